"""The tool in a real sandbox. Needs no database and no worker: ``python -m unittest boxed_tool.test_boxed_tool``."""

import os
import time
import unittest

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "core.settings")

import django

django.setup()

from boxed_tool.tool import Page, page_words  # noqa: E402
from tasks_app.fakes import context_of  # noqa: E402
from tasks_app.runtime.acting import Outcome, call_act  # noqa: E402


def run(html: str) -> Outcome:
    context = context_of(key="k1", seconds=30.0)
    return call_act(page_words, Page(html=html), context, epoch_holds=lambda: True, send_by=time.monotonic() + 5)


class TestPageWords(unittest.TestCase):
    """What it answers, and where it runs."""

    def test_it_counts_words(self) -> None:
        outcome = run("<p>Four words, no more</p>")
        assert outcome.result == {"words": 4, "first": ["Four", "words,", "no", "more"]}, outcome

    def test_it_runs_in_a_process_of_its_own(self) -> None:
        used = run("<p>x</p>").used or {}
        assert used["ended"] == "answered"
        assert used["level"] in {"namespaces", "process"}


if __name__ == "__main__":
    unittest.main()
