"""The settings of the test run: a folder, a database and a broker database of its own, whatever else runs here."""

import atexit
import os
import shutil

from tests.folders import test_folder

# The first process makes the folder; pytest-xdist's workers inherit the name and share its servers. Never the folder
# that the person works with: this one is deleted at the end.
if "HANDRAIL_TEST_VAR" not in os.environ:
    os.environ["HANDRAIL_TEST_VAR"] = str(test_folder())
    atexit.register(shutil.rmtree, os.environ["HANDRAIL_TEST_VAR"], ignore_errors=True)
os.environ["HANDRAIL_VAR"] = os.environ["HANDRAIL_TEST_VAR"]
# Inherited by web processes: what they did in a sweeper's stead would meet the flush between two tests.
os.environ.setdefault("HANDRAIL_STAND_IN_SECONDS", "0")

from core.embedded import address
from core.settings import *  # noqa: F403
from core.settings import CHANNEL_LAYERS, VAR_DIR

# Messages must not reach the workers of another test process: one broker database each.
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) + 1
if not os.environ.get("REDIS_URL"):
    REDIS_URL = f"{address.redis_url(VAR_DIR)}?db={_worker}"
    CELERY_BROKER_URL = address.celery_broker_url(REDIS_URL)
    CHANNEL_LAYERS["default"]["CONFIG"]["hosts"][0]["address"] = address.channels_url(REDIS_URL)

# Quick hashing: tests sign in often, and no secret is at stake.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
