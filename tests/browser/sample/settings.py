"""The product's settings, with the sample page added."""

from pathlib import Path

from core.settings import *  # noqa: F403
from core.settings import TEMPLATES

ROOT_URLCONF = "tests.browser.sample.urls"
TEMPLATES[0]["DIRS"].append(Path(__file__).parent)
