"""What one call holds or leaves is nothing to another: the kernel keeps some things for a user, not for a namespace."""

import threading
from dataclasses import replace

import pytest

from tests.integration.sandbox.conftest import act, inside, said
from tests.integration.sandbox.test_worker_death import hangs
from tests.processes import wait_for
from tests.sandbox_tools import box_keyed

REFUSED = {"EPERM", "ENOSYS"}


@pytest.mark.parametrize("network", [(), ("nowhere.invalid:443",)], ids=["without network", "with a network"])
def test_system_calls_that_lead_out_of_namespaces_are_refused(network):
    seen = said("system_calls", contract=replace(box_keyed, network=network))
    assert len(seen) == 15
    assert set(seen.values()) <= REFUSED, seen
    assert seen["unshare"] == seen["keyctl"] == seen["clone"] == "EPERM"


@pytest.mark.usefixtures("cold_and_warm")
def test_no_socket_is_opened_that_knows_no_network_namespace():
    assert set(said("families").values()) == {"Address family not supported by protocol"}


def test_nothing_is_left_in_a_keyring():
    assert said("keyring", word="left") is False
    assert said("keyring") is False


@pytest.mark.usefixtures("cold_and_warm")
def test_it_belongs_to_no_group_of_its_worker():
    assert 0 not in said("groups")


def test_one_that_starts_all_that_it_may_keeps_no_other_from_starting_its_own():
    many = threading.Thread(target=act, args=["crowd"], kwargs={"number": 6, "seconds": 20.0}, daemon=True)
    many.start()
    try:
        wait_for(lambda: any(map(hangs, inside())), seconds=20, what="one that has started all that it may")
        assert said("child") == 0
    finally:
        many.join(40)
    assert not many.is_alive()
