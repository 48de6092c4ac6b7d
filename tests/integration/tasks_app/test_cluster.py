"""C03: a server that is not the one we knew stops every attempt until open calls have been reconciled."""

import threading

import pytest
from django.db import OperationalError, connection, transaction

from tasks_app import cluster
from tasks_app.cluster import cluster_check, cluster_reconcile, cluster_reconcile_if_needed
from tasks_app.leases import lease_claim
from tasks_app.models import Call, ClusterIdentity, Task
from tasks_app.record.append import Admission, CallChange, append
from tasks_app.record.events import CallIntended
from tasks_app.sweeper import Sweeper
from tests.integration.tasks_app.conftest import event, kinds
from tests.integration.tasks_app.test_leases import WORKER, claim, due

pytestmark = pytest.mark.django_db(transaction=True)


def intend(task: Task, name: str, effect_class: str, state: str, ordinal: int) -> None:
    fixed = {"step": 1, "ordinal": ordinal, "tool": "t", "contract_version": 1, "effect_class": effect_class}
    intended = CallIntended(name=name, schema_digest="", arguments={}, digest="d" * 64, key=f"k-{name}", **fixed)
    row = {
        "task_id": str(task.pk),
        "workspace_id": str(task.workspace_id),
        **fixed,
        "digest": "d" * 64,
        "key": f"k-{name}",
        "state": state,
        "intended_seq": 2,
        **dict.fromkeys(["attempts", "look_ups"], 0),
        **dict.fromkeys(["reference", "resource", "handle", "replaced_by"], ""),
        **dict.fromkeys(["holds_business_key", "maybe_applied", "look_first"], False),
    }
    append(stream=task.pk, events=[intended], actor="system", calls=[CallChange(name=name, new=True, set=row)])


def set_back() -> None:
    """Another timeline, as after a promotion or a restore."""
    ClusterIdentity.objects.update(timeline=99)


def stop_for_another_server() -> None:
    cluster_check()
    set_back()
    assert not cluster_check()


def test_the_first_look_stores_the_identity_and_the_next_finds_it_unchanged():
    assert cluster_check()
    assert cluster_check()
    stored = ClusterIdentity.objects.get()
    assert (len(stored.system_identifier) > 10, stored.timeline, stored.reconciling) == (True, 1, False)


def test_another_timeline_stops_attempts_until_reconciled(people):
    cluster_check()
    set_back()
    assert not cluster_check()
    task = due(people)
    admission = Admission(attempts={"t": 1}).as_json()
    with connection.cursor() as cursor:
        cursor.execute("SELECT handrail_admission(%s, %s, %s)", [task.workspace_id, task.agent, admission])
        assert cursor.fetchone() == ("stopped: reconciling",)
    cluster_reconcile_if_needed()
    with connection.cursor() as cursor:
        cursor.execute("SELECT handrail_admission(%s, %s, %s)", [task.workspace_id, task.agent, admission])
        assert cursor.fetchone() == (None,)
    assert cluster_check()


def test_no_attempt_is_admitted_on_another_server_before_a_sweeper_has_compared_it(people):
    cluster_check()
    set_back()
    task = due(people)
    with connection.cursor() as cursor:
        cursor.execute("SELECT handrail_admission(%s, %s, '{}')", [task.workspace_id, task.agent])
        assert cursor.fetchone() == ("stopped: reconciling",)
    assert not ClusterIdentity.objects.get().reconciling


def test_a_sweeper_compares_the_server_after_each_new_connection_whoever_noticed_that_the_old_one_broke(people):
    sweeper = Sweeper(extra=[])
    sweeper.sweep()
    set_back()
    connection.close()  # as Django does where somebody else has caught the error
    sweeper.sweep()
    stored = ClusterIdentity.objects.get()
    assert (stored.timeline, stored.reconciling) == (1, True)


def test_reconciling_looks_before_sending_what_can_be_looked_up_and_doubts_what_cannot(people):
    task = due(people)
    claim(task)
    Task.objects.update(status="queued", lease_nonce=None, lease_until=None, lease_holder="")
    for ordinal, (name, effect_class, state) in enumerate(
        [
            ("keyed", "keyed", "intended"),
            ("readable", "readable", "intended"),
            ("sent", "readable", "attempted"),
            ("opaque", "opaque", "approved"),
            ("asked", "readable", "asked"),
        ]
    ):
        intend(task, name, effect_class, state, ordinal)
    stop_for_another_server()
    assert cluster_reconcile() == 1
    states = dict(Call.objects.values_list("name", "state"))
    assert states == {
        "keyed": "intended",
        "readable": "unknown",
        "sent": "attempted",
        "opaque": "in_doubt",
        "asked": "in_doubt",
    }
    lease = lease_claim(task=task.pk, worker=WORKER)
    assert lease is not None
    assert lease.took_over


def test_a_task_that_is_held_loses_its_worker_without_blame(people):
    task = due(people)
    claim(task)
    intend(task, "sent", "readable", "attempted", 0)
    stop_for_another_server()
    cluster_reconcile()
    lost = event(task.pk, "slice.lost")
    assert (lost.data["counted"], lost.data["lost_epoch"]) == (False, 1)
    assert "task.quarantined" not in kinds(task.pk)


def test_a_sweeper_that_is_slower_than_another_doubts_nothing_that_was_attempted_since(people, monkeypatch):
    """C03: it has listed its tasks, the other is through with them, and workers go on."""
    task, slower = due(people), cluster._reconcile
    intend(task, "first", "keyed", "intended", 0)
    stop_for_another_server()

    def behind(listed):
        monkeypatch.setattr(cluster, "_reconcile", slower)
        assert cluster_reconcile_if_needed() == 1
        claim(task)
        intend(task, "live", "opaque", "attempted", 1)
        return slower(listed)

    monkeypatch.setattr(cluster, "_reconcile", behind)
    looked_at = cluster_reconcile()
    assert dict(Call.objects.values_list("name", "state")) == {"first": "intended", "live": "attempted"}
    assert Task.objects.get(pk=task.pk).lease_nonce is not None
    assert [kinds(task.pk).count(kind) for kind in ("slice.lost", "call.in_doubt")] == [1, 0]
    assert (looked_at, cluster_check()) == (0, True)


def test_attempts_do_not_go_on_while_a_slower_sweeper_judges(people, monkeypatch):
    """C03: it has asked whether it may; the faster one ends behind it."""
    task, judged = due(people), cluster._judged
    intend(task, "first", "keyed", "intended", 0)
    stop_for_another_server()
    ended: list[bool] = []

    def end() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '100ms'")
                ClusterIdentity.objects.filter(pk=1).update(reconciling=False)
            ended.append(True)
        except OperationalError:
            ended.append(False)
        finally:
            connection.close()

    def slowly(calls):
        other = threading.Thread(target=end)
        other.start()
        other.join()
        return judged(calls)

    monkeypatch.setattr(cluster, "_judged", slowly)
    cluster_reconcile()
    assert ended == [False]
