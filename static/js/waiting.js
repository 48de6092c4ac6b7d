/* The title carries the count of approvals that wait for the reader: it is read in a row of browser tabs. */
export function showWaiting(count) {
  const bare = document.title.replace(/^\(\d+\) /, "");
  document.title = count ? `(${count}) ${bare}` : bare;
}
