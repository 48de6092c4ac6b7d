"""Schedules fire from rows: each slot once, however many sweepers look, under today's rights (case-28)."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from chaos_app.models import DrillRun, DrillSchedule, DrillSlot
from chaos_app.services import slots as firing
from chaos_app.services.launch import LAUNCH_LOCK, command_of
from chaos_app.services.slots import schedule_set, slots_fire
from core.errors import InvalidInput
from core.models import Membership
from tasks_app.models import Event
from tests.locks import locks_awaited
from tests.processes import ROOT, wait_for

pytestmark = pytest.mark.django_db
START = datetime(2027, 1, 1, 0, 55, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    settings.HANDRAIL_DRILLS_AT_ONCE = 9


def schedule(people, *, name="hourly", **values):
    given = {"cron": "0 * * * *", "zone": "UTC", "suite": "core", "grace_seconds": 1800} | values
    row = schedule_set(workspace=people.workspace, user=people.rhea, actor="person:rhea", name=name, values=given)
    DrillSchedule.objects.filter(pk=row.pk).update(seen_until=START)
    return row


def slots(name: str = "hourly") -> list[tuple[str, str]]:
    return [(f"{slot.at:%H:%M}", slot.state) for slot in DrillSlot.objects.filter(schedule__name=name).order_by("at")]


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2027-01-01T{text}:00+00:00")


def test_a_schedule_of_every_second_is_refused(people):
    with pytest.raises(InvalidInput, match="five fields"):
        schedule(people, cron="* * * * * *")
    assert not DrillSchedule.objects.exists()
    assert schedule(people, cron="* * * * *").enabled


def test_case_28_after_downtime_neither_everything_at_once_nor_twice_nor_silence(people):
    schedule(people, name="s6")
    schedule(people, name="s6 patient", grace_seconds=3600)
    schedule(people, name="s7", catch_up="each", catch_up_most=3)
    schedule(people, name="s8", catch_up="skip")
    schedule(people, name="s6 off", enabled=False)
    for second in range(4):  # each look fires at most one slot of a schedule, and only after the run before has ended
        slots_fire(at("03:50") + timedelta(seconds=second))
        DrillRun.objects.update(state="ended")
    ends = {"s6": ["missed"] * 3, "s6 patient": ["missed", "missed", "late"], "s7": ["late"] * 3, "s8": ["missed"] * 3}
    found = {name: [state for _, state in slots(name)] for name in (*ends, "s6 off")}
    assert found == {**ends, "s6 off": []}
    assert DrillSlot.objects.get(schedule__name="s6 patient", state="late").why == "For 03:00Z, late by 50 min."
    assert [run.slot.at for run in DrillRun.objects.filter(slot__schedule__name="s7").order_by("pk")] == [
        *(at("01:00"), at("02:00"), at("03:00"))
    ]
    assert all(slot.why for slot in DrillSlot.objects.filter(state__in=["late", "missed"]))


def test_after_an_absence_over_the_grace_nothing_starts_before_the_next_slot(people):
    schedule(people)
    assert slots_fire(at("03:50")) == 0
    assert slots() == [("01:00", "missed"), ("02:00", "missed"), ("03:00", "missed")]
    assert slots_fire(at("04:00")) == 1
    assert slots()[-1] == ("04:00", "fired")


def test_within_the_grace_one_run_starts_marked_with_its_slot(people):
    schedule(people, grace_seconds=3600)
    assert slots_fire(at("03:50")) == 1
    assert slots()[-1] == ("03:00", "late")
    assert DrillSlot.objects.get(state="late").why == "For 03:00Z, late by 50 min."


def test_each_is_made_up_one_after_the_other(people):
    schedule(people, catch_up="each")
    for nth in (1, 2, 3):
        assert slots_fire(at("03:50") + timedelta(seconds=nth)) == 1
        assert slots_fire(at("03:50") + timedelta(seconds=nth)) == 0
        DrillRun.objects.update(state="ended")
    assert [state for _, state in slots()] == ["late", "late", "late"]


def test_after_it_was_switched_off_and_on_nothing_is_made_up_and_nothing_is_called_missed(people):
    row = schedule(people)
    for enabled in (False, True):
        values = {"cron": row.cron, "zone": row.zone, "enabled": enabled}
        schedule_set(workspace=people.workspace, user=people.rhea, actor="person:rhea", name="hourly", values=values)
    row.refresh_from_db()
    assert row.seen_until != START  # it begins where it was switched on
    slots_fire(row.seen_until)
    assert slots() == []


def test_a_run_is_under_todays_rights(people):
    schedule(people)
    Membership.objects.filter(user=people.rhea).delete()
    assert slots_fire(at("01:00")) == 0
    assert slots() == [("01:00", "skipped")]
    assert "may not run drills any more" in DrillSlot.objects.get().why


def test_a_slot_while_drills_are_refused_is_skipped_with_the_reason(people, settings):
    schedule(people)
    settings.HANDRAIL_ENVIRONMENT = "production"
    slots_fire(at("01:00"))
    assert slots() == [("01:00", "skipped")]
    assert "production" in DrillSlot.objects.get().why


def test_what_cannot_be_read_is_not_kept(people):
    with pytest.raises(InvalidInput, match="cron"):
        schedule(people, cron="every day")
    assert not DrillSchedule.objects.exists()


def test_a_schedule_drills_an_agent_of_ones_own_as_long_as_its_package_offers_it(people, settings, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    settings.HANDRAIL_MODULES = ["own_agent"]
    own = {"target": "own_agent.drill:target"}
    schedule(people, selection=own)
    said = Event.objects.get(stream=people.workspace.pk, kind="schedule.changed").data
    assert said["after_change"]["selection"] == own
    assert slots_fire(at("01:00")) == 1
    run = DrillRun.objects.get()
    assert command_of(run)[-4:-2] == ["--target", own["target"]]
    DrillRun.objects.update(state="ended")
    settings.HANDRAIL_MODULES = []
    assert slots_fire(at("02:00")) == 0
    assert slots()[-1] == ("02:00", "skipped")
    assert "not offered" in DrillSlot.objects.latest("at").why


def test_a_schedule_of_what_no_package_offers_is_not_kept(people):
    with pytest.raises(InvalidInput, match="not offered"):
        schedule(people, selection={"target": "os:path"})
    assert not DrillSchedule.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_many_sweepers_never_fire_one_slot_twice(people, settings, tmp_path):
    settings.BASE_DIR = tmp_path
    (tmp_path / "manage.py").write_text("")
    schedule(people)
    over: list[int] = []

    def sweep() -> None:
        try:
            over.append(slots_fire(at("01:00")))
        finally:
            connection.close()

    sweepers = [threading.Thread(target=sweep) for _ in range(4)]
    with transaction.atomic(), connection.cursor() as cursor:  # whoever has decided to launch waits here for the others
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LAUNCH_LOCK])
        for sweeper in sweepers:
            sweeper.start()
        wait_for(lambda: len(over) + locks_awaited(LAUNCH_LOCK) == 4, seconds=20, what="every sweeper to have looked")
    for sweeper in sweepers:
        sweeper.join()
    assert slots() == [("01:00", "fired")]
    assert DrillRun.objects.count() == 1


def test_a_schedule_that_cannot_be_decided_keeps_no_other_waiting(people, monkeypatch):
    broken = schedule(people, name="broken")
    schedule(people)
    real = firing._launch

    def launch(row, slot):
        if row.pk == broken.pk:
            raise ZeroDivisionError
        return real(row, slot)

    monkeypatch.setattr(firing, "_launch", launch)
    assert slots_fire(at("01:00")) == 1
    assert (slots("broken"), slots()) == ([], [("01:00", "fired")])
