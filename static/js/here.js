/* On a narrow screen the row of places scrolls; the one that the reader is on is brought into view. */
export function startHere() {
  for (const row of document.querySelectorAll(".places, .tabs")) {
    const here = row.querySelector("[aria-current]");
    if (!here || row.scrollWidth <= row.clientWidth) continue;
    const place = here.getBoundingClientRect();
    row.scrollLeft += place.left - row.getBoundingClientRect().left - (row.clientWidth - place.width) / 2;
  }
}
