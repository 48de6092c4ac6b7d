"""What is long over is removed; what stands or waits never is."""

from datetime import timedelta

from approvals_app.notify.models import Alert, Delivery
from approvals_app.notify.services.forget import KEPT, old_forget
from core.clock import database_now
from tests.channels import channel, route, told
from tests.desk import Desk, parked
from tests.receiver import Receiver


def test_only_what_ended_long_ago_is_removed(desk: Desk, receiver: Receiver):
    route(channel(desk.workspace, "webhook", receiver.url))
    parked(desk)
    (old,) = told()
    parked(desk)
    told()
    before = database_now() - KEPT - timedelta(hours=1)
    Delivery.objects.filter(pk=old.pk).update(ended_at=before)
    for key, cleared in (("a", before), ("b", None), ("c", database_now())):
        Alert.objects.create(rule="r", key=key, title=key, seen_at=before, raised_at=before, cleared_at=cleared)
    assert old_forget() == 2
    assert sorted(Alert.objects.values_list("key", flat=True)) == ["b", "c"]
    assert Delivery.objects.count() == 1
