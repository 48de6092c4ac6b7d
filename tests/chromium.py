"""The browser of the browser tests: the machine's own Chromium, or none."""

import shutil

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LEFT_OUT = "Browser tests were left out: no Chromium was found. Install one (Debian, Ubuntu: apt-get install chromium)."
