"""The planted bugs by name (H5), and the variable that lets a worker carry them. Pure."""

NEW_KEY, ASSUME_DONE = "new key on retry", "assume done"
NO_WAIT, NO_TOKEN = "no wait before the look-up", "no token check"
TWICE, NOT_LOOKED = "approval consumed twice", "verified without looking"
AGAIN, SIBLING = "asked twice under another name", "a sibling's effect adopted"
ENABLED = "HANDRAIL_DRILL_BUGS"
