"""The judgement of ``demo --once``: what is missing, doubled, foreign, or was never put to the test is said."""

from typing import Any

from chaos_app.demo.deaths import DEATHS
from chaos_app.demo.reports import Incident
from chaos_app.demo.verdict import ghosts, levels, problems, rows, spread, takeover
from chaos_app.injector.killing import Victim
from chaos_app.injector.plan import Place, Plan, Stage
from chaos_app.world.client import Effect
from core.boundaries import Boundary, Position

INCIDENT = Incident({"id": "INC-1", "suspected_setting": "a.b", "on_call": "mara@x.test", "vendor": None})
CALLS = {
    "INC-1": [
        {"tool": "ticket.open", "key": "k1"},
        {"tool": "config.change", "key": "k2"},
        {"tool": "mail.notify", "key": "k3"},
    ]
}


def effect(system: str, business_key: str, key: str, **more: Any) -> Effect:
    plain = dict.fromkeys(Effect.model_fields) | {"at": 0.0, "operation": "x", "reference": "R"}
    flags = {"planted": False, "late": False, "stored": True, "counted": True}
    return Effect(**plain | flags | {"system": system, "business_key": business_key, "key": key} | more)


TICKET = effect("tickets", "ticket.open:INC-1", "k1")
CHANGE = effect("config", "config.change:INC-1:a.b", "k2")
MAIL = effect("mail", "mail.notify:INC-1:mara@x.test", "k3")


def verdicts(*effects: Effect, status: str = "completed") -> list[str]:
    return [row.verdict for row in rows([INCIDENT], {"INC-1": status}, CALLS, effects)]


def landed(stage: Stage = Stage.LANDED) -> Plan:
    place = Place(boundary=Boundary.SEND, position=Position.BEFORE_SEND)
    return Plan(place=place, victim=Victim.CHILD, stage=stage, killed_at=100.0)


def test_each_effect_once_is_well() -> None:
    assert verdicts(TICKET, CHANGE, MAIL) == ["ONCE", "ONCE", "ONCE"]


def test_an_effect_that_is_missing_doubled_or_by_a_stranger_is_called_so() -> None:
    stranger = effect("mail", "mail.notify:INC-1:mara@x.test", "another")
    assert verdicts(CHANGE, CHANGE, stranger) == ["LOST", "REPEATED", "WRONG"]


def test_what_the_ledger_counted_and_the_storage_does_not_have_is_lost() -> None:
    assert verdicts(effect("tickets", "ticket.open:INC-1", "k1", stored=False))[0] == "LOST"


def test_nothing_stands_against_a_good_run() -> None:
    found = rows([INCIDENT], {"INC-1": "completed"}, CALLS, [TICKET, CHANGE, MAIL])
    assert problems(found, [(landed(), 0.3)], [], []) == []


def test_a_death_that_was_planned_and_did_not_land_stands_against_the_run() -> None:
    for stage in (Stage.ARMED, Stage.REACHED, Stage.FAILED):
        assert "did not land" in problems([], [(landed(stage), None)], [], [])[0]


def test_a_death_that_no_takeover_followed_stands_against_the_run() -> None:
    assert "no takeover" in problems([], [(landed(), None)], [], [])[0]


def test_a_task_that_did_not_complete_an_effect_of_nobody_and_a_doubtful_ledger_stand_against_the_run() -> None:
    found = rows([INCIDENT], {"INC-1": "unverified"}, CALLS, [TICKET, CHANGE, MAIL])
    ghost = ghosts([TICKET, effect("payments", "vendor.credit:INC-9:x", "k9")], [INCIDENT])
    told = problems(found, [], ghost, ["mail: 1 stored, 0 counted"])
    assert len(told) == 3
    assert "unverified" in told[0]


def test_a_takeover_is_measured_to_the_first_claim_after_the_death() -> None:
    claims = [{"kind": "slice.claimed", "at": f"1970-01-01T00:01:{second}+00:00"} for second in ("39.9", "40.25", "45")]
    assert takeover(landed(), claims) == 0.25
    assert takeover(landed(), claims[:1]) is None


def test_times_are_told_as_median_95_percent_and_largest() -> None:
    assert spread([]) == "none"
    assert spread([0.1, 0.2, 0.9]).startswith("median 0.20 s")


def test_the_planned_deaths_cover_each_class_each_victim_and_at_least_eight_boundaries() -> None:
    assert {death.of for death in DEATHS} >= {"none", "keyed", "readable", "readable + precondition", "opaque"}
    assert {death.victim for death in DEATHS} == set(Victim)
    assert len({death.boundary for death in DEATHS}) >= 8


def test_the_answers_are_counted_by_the_sandbox_in_which_they_were_made() -> None:
    walled = {"kind": "call.outcome", "data": {"sandbox": {"level": "namespaces"}}}
    unsent = {"kind": "call.outcome", "data": {"sent": False}}
    other = {"kind": "call.verified", "data": {}}
    assert levels([walled, walled, unsent, other, {"kind": "call.outcome", "data": {}}]) == {
        "namespaces": 2,
        "none": 1,
    }
