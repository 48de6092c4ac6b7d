"""What an overview shows of alerts and of the desk's figures."""

from django.template.loader import render_to_string
from django.test import Client

from approvals_app.notify.models import Alert
from approvals_app.notify.selectors.alerts import alerts_open
from approvals_app.selectors.figures_strip import figures_strip
from core.clock import database_now
from tests.desk import Desk, decide, parked


def alert(desk: Desk, key: str, *, everywhere: bool = False, title: str = "Outcome unknown: pay") -> Alert:
    now = database_now()
    workspace = None if everywhere else desk.workspace
    return Alert.objects.create(rule="r", key=key, workspace=workspace, title=title, seen_at=now, raised_at=now)


def test_alerts_of_a_workspace_are_shown_to_its_people_and_those_of_the_installation_to_everybody(desk: Desk):
    ours, everywhere = alert(desk, "a"), alert(desk, "b", everywhere=True)
    Alert.objects.create(rule="r", key="not yet", title="Not yet", seen_at=database_now())
    assert {row.pk for row in alerts_open(user=desk.vera).rows} == {ours.pk, everywhere.pk}
    assert [row.pk for row in alerts_open(user=desk.tobin).rows] == [everywhere.pk]
    assert alerts_open(user=desk.vera, most=1).count == 2


def test_the_strip_of_alerts_says_how_many_there_are_and_nothing_where_there_is_none(desk: Desk):
    assert render_to_string("alerts/_strip.html", {"alerts": alerts_open(user=desk.vera)}).strip() == ""
    for number in range(6):
        alert(desk, str(number), title="<b>Outcome</b> unknown")
    html = render_to_string("alerts/_strip.html", {"alerts": alerts_open(user=desk.vera)})
    assert "6 alerts" in html
    assert "&lt;b&gt;Outcome" in html
    assert 'href="/alerts/"' in html


def test_the_strip_of_figures_counts_the_last_day_in_the_reader_s_workspaces(desk: Desk):
    decide(parked(desk), desk.rhea)
    parked(desk)
    assert figures_strip(user=desk.vera).all.asked == 2
    assert figures_strip(user=desk.tobin).all.asked == 0
    html = render_to_string("approvals/_figures_strip.html", {"strip": figures_strip(user=desk.vera)})
    assert "Approved" in html
    assert "Nothing was asked" in render_to_string(
        "approvals/_figures_strip.html", {"strip": figures_strip(user=desk.tobin)}
    )


def test_the_page_lists_what_stands_and_what_is_over(desk: Desk, client: Client):
    alert(desk, "a", title="Stands")
    over = alert(desk, "b", title="Was")
    Alert.objects.filter(pk=over.pk).update(cleared_at=database_now())
    client.force_login(desk.vera)
    text = client.get("/alerts/").content.decode()
    assert text.index("Stands") < text.index("alerts that are over") < text.index("Was")
    client.force_login(desk.tobin)
    assert "No alert stands" in client.get("/alerts/").content.decode()
