/* Starts every part; each page is complete without any of them. */
import { startCopy } from "./copy.js";
import { startHere } from "./here.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { startMenus } from "./menus.js";
import { startOnce } from "./once.js";
import { startPicks } from "./picks.js";
import { startTail } from "./tail.js";
import { startTime } from "./time.js";

document.documentElement.classList.add("js");
startTime();
startCopy();
startMenus();
startHere();
startTail();
startLive();
startKeys();
startOnce();
startPicks();
