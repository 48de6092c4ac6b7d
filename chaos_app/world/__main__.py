"""``python -m chaos_app.world``: the same as ``manage.py world``, without Django."""

import sys

from chaos_app.world.serve import main

sys.exit(main())
