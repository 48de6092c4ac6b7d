"""The pure parts of the outside world: faults as text, marks, markup, and the incidents that the demo gives it."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from chaos_app.world.entries import difference
from chaos_app.world.errors import Refused
from chaos_app.world.faults import At, Kind, Plan, fault_read
from chaos_app.world.marks import marks_read
from chaos_app.world.markup import el, text_shown
from chaos_app.world.repository import SERVICE
from chaos_app.world.witness import repetitions

EXAMPLE = json.loads((Path(__file__).resolve().parents[3] / "examples" / "incidents.json").read_text())


def test_a_fault_is_read_from_a_header() -> None:
    fault = fault_read("hold; seconds=2.5; at=applied")
    assert (fault.fault, fault.seconds, fault.at) == (Kind.HOLD, 2.5, At.APPLIED)
    assert fault_read("hold").wait == 120
    assert fault_read("delay").wait == 1


@pytest.mark.parametrize("text", ["", "explode", "delay; seconds=x", "delay; colour=red", "delay; seconds=99999"])
def test_an_unreadable_fault_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="World-Fault"):
        fault_read(text)


def test_a_plan_fits_what_it_names() -> None:
    plan = Plan.model_validate({"system": "tickets", "fault": "delay", "match": {"key": "k", "attempt": 2}})
    arrival = {"system": "tickets", "acts": True, "key": "k", "attempt": 2, "operation": "open", "method": "POST"}
    assert plan.fits(arrival)
    assert not plan.fits(arrival | {"attempt": 1})
    assert not plan.fits(arrival | {"system": "mail"})
    assert not plan.fits(arrival | {"acts": False})


def test_marks_are_read_with_and_without_a_prefix() -> None:
    headers = {"Idempotency-Key": "k", "Handrail-Key": "other", "X-Handrail-Call": " c ", "Handrail-Attempt": "3"}
    marks = marks_read(headers.get)
    assert (marks.key, marks.call, marks.attempt, marks.business_key) == ("k", "c", 3, None)
    assert marks_read({}.get, fallback_key="m@x").key == "m@x"


@pytest.mark.parametrize("headers", [{"Handrail-Key": "a\nb"}, {"Handrail-Key": "k" * 301}, {"Handrail-Attempt": "-1"}])
def test_marks_that_could_break_a_trailer_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(Refused):
        marks_read(headers.get)


def test_markup_escapes_text_and_attributes() -> None:
    assert el("a", "<b>", el("b", "x"), 3, href='"&') == '<a href="&quot;&amp;">&lt;b&gt;<b>x</b>3</a>'
    assert text_shown("a\u200bb\u202ec\x00\nd") == "a[U+200B]b[U+202E]c[U+0000]\nd"


def test_a_difference_shows_changed_lines_only_with_their_sign() -> None:
    diff = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-  "a": 1\n+  "a": 2\n\\ No newline'
    assert difference(diff).count("<code") == 2
    assert '<code class="removed">-' in difference(diff)


def test_repetitions_compare_items_with_their_own_number() -> None:
    effect = {"system": "batch", "operation": "post", "business_key": "b", "key": None}
    rows = [effect | {"item": str(item), "reference": f"N-{row}"} for row, item in enumerate((0, 1, 2, 1))]
    (group,) = repetitions(rows)
    assert (group["count"], group["references"]) == (2, ["N-1", "N-3"])


@pytest.mark.parametrize("incident", EXAMPLE["incidents"], ids=lambda incident: incident["id"])
def test_an_incident_can_be_settled_within_its_tolerances(incident: dict) -> None:
    values = EXAMPLE["services"][incident["service"]]
    setting = incident["suspected_setting"]
    for name in setting.split("."):
        values = values[name]
    bounds = incident["tolerances"][setting]
    proposed = values * 2 if incident["direction"] == "raise" else values // 2
    proposed = max(bounds["min"], min(bounds["max"], proposed))
    assert proposed > values if incident["direction"] == "raise" else proposed < values
    assert SERVICE.fullmatch(incident["service"])
    assert datetime.fromisoformat(incident["opened_at"]).tzinfo is not None
    assert len(incident["report"].split(". ")) >= 3
    assert (incident["vendor"] is None) == (incident["credit_cents"] is None)


def test_there_are_ten_incidents_in_ten_services_and_four_credits() -> None:
    incidents = EXAMPLE["incidents"]
    assert len({incident["id"] for incident in incidents}) == 10
    assert {incident["service"] for incident in incidents} == set(EXAMPLE["services"])
    assert sum(1 for incident in incidents if incident["vendor"]) == 4
