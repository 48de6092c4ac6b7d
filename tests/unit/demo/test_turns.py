"""Whole workers die one after the other, each while another one lives."""

from chaos_app.demo.deaths import Death
from chaos_app.demo.turns import Turns
from chaos_app.injector.killing import Victim
from chaos_app.injector.plan import Stage
from core.boundaries import Boundary, Position


def death(incident: str, victim: Victim = Victim.WORKER, trigger: str = "start") -> Death:
    place = {"boundary": Boundary.SEND, "position": Position.BEFORE_SEND}
    return Death(incident=incident, victim=victim, trigger=trigger, **place)


class Fleet:
    def __init__(self, *deaths: Death) -> None:
        self.up = 2
        self.plans = [(one, one.plan()) for one in deaths]
        self.turns = Turns(self.plans, lambda: self.up)


def test_a_second_worker_dies_only_once_the_first_death_has_landed_and_both_are_up_again() -> None:
    fleet = Fleet(death("A"), death("B", trigger="change"))
    assert fleet.turns.come("A", "start")
    assert not fleet.turns.come("B", "change")
    fleet.plans[0][1].stage = Stage.LANDED
    fleet.up = 1
    assert not fleet.turns.come("B", "change")
    fleet.up = 2
    assert fleet.turns.come("B", "change")


def test_a_death_that_has_been_let_loose_stays_so() -> None:
    fleet = Fleet(death("A", trigger="change"))
    assert fleet.turns.come("A", "change")
    assert fleet.turns.come("A", "change")


def test_the_death_of_a_child_waits_for_nobody_but_new_work_waits_for_both_workers() -> None:
    fleet = Fleet(death("A", Victim.CHILD, "change"))
    fleet.up = 1
    assert fleet.turns.come("A", "change")
    assert not fleet.turns.come("A", "start")
