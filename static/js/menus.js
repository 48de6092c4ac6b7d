/* Menus made of <details> close when the reader goes elsewhere or presses Escape. */
const open = () => document.querySelectorAll("details[data-menu][open]");

export function closeMenus() {
  const menus = [...open()];
  for (const menu of menus) {
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
  return menus.length > 0;
}

export function startMenus() {
  document.addEventListener("click", (event) => {
    for (const menu of open()) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("focusout", (event) => {
    for (const menu of open()) if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
  });
}
