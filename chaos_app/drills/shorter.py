"""Shorter times in the workers of a drill: what hangs outside of a call is ended in seconds, not in minutes.

``HANDRAIL_MODULES`` names this module in a drill's processes alone.
"""

import os

from chaos_app.drills.limits import SLICE
from chaos_app.injector.report import SOCKET
from tasks_app import tasks

if os.environ.get(SOCKET):
    tasks.LONGEST_SLICE = SLICE
