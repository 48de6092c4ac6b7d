"""Tests of the agent and of what its tool promises. They need no database and no worker."""

import os
import tempfile
import unittest
from pathlib import Path

from own_agent import target, tool
from own_agent.agent import own_agent
from own_agent.criteria import posted
from tasks_app.contracts import Absent, Found, Refused
from tasks_app.decisions import Call, Complete, Fail
from tasks_app.fakes import call_settled, context_of, view_of
from tasks_app.status import CallState

INTENT = {"room": "lobby", "text": "The lift is being repaired."}


class TestAgent(unittest.TestCase):
    """What it decides, given what has happened."""

    def test_it_posts_first(self) -> None:
        decision = own_agent(view_of(INTENT))
        assert isinstance(decision, Call)
        assert (decision.tool, decision.arguments) == ("own.post", INTENT)

    def test_it_completes_once_the_post_is_verified(self) -> None:
        done = call_settled("post", tool="own.post", arguments=INTENT, reference="N-1")
        assert isinstance(own_agent(view_of(INTENT, calls=[done])), Complete)

    def test_it_gives_up_where_the_post_was_refused(self) -> None:
        refused = call_settled("post", tool="own.post", arguments=INTENT, state=CallState.REFUSED, refusal="no room")
        decision = own_agent(view_of(INTENT, calls=[refused]))
        assert isinstance(decision, Fail)
        assert "no room" in decision.reason


class TestTool(unittest.TestCase):
    """What the contract promises, tried on the target."""

    def setUp(self) -> None:
        """Use a board of its own."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.environ[target.BOARD] = str(Path(folder.name) / "board")
        self.addCleanup(os.environ.pop, target.BOARD)
        self.wanted = tool.Post.model_validate(INTENT)

    def test_what_was_posted_is_found_by_its_key_and_verified(self) -> None:
        answer = tool.post.execute(self.wanted, context_of(key="k1"))
        found = tool.find("k1")
        assert isinstance(found, Found)
        assert (found.reference, found.arguments) == ("N-1", INTENT)
        assert tool.verify(self.wanted, answer).matches

    def test_another_key_with_equal_arguments_is_not_found(self) -> None:
        tool.post.execute(self.wanted, context_of(key="k1"))
        assert tool.find("k2") == Absent()

    def test_looking_has_no_effect(self) -> None:
        tool.find("k1")
        assert target.ledger() == []

    def test_a_refusal_leaves_no_effect(self) -> None:
        with self.assertRaises(Refused):
            tool.post.execute(tool.Post(room="roof", text="x"), context_of(key="k1"))
        assert target.ledger() == []

    def test_two_of_them_are_not_verified_and_do_not_complete_a_task(self) -> None:
        answer = tool.post.execute(self.wanted, context_of(key="k1"))
        tool.post.execute(self.wanted, context_of(key="k1"))
        assert not tool.verify(self.wanted, answer).matches
        assert not posted(**INTENT).holds


if __name__ == "__main__":
    unittest.main()
