"""What the incident agent and its tools tell people is what they do."""

import pytest

from chaos_app.incidents import words
from chaos_app.incidents.incident import Incident
from chaos_app.incidents.payments import Credit, credit_preview
from tests.unit.incidents.test_policy import INCIDENTS, POOL


def test_the_preview_of_a_payment_says_its_money_and_what_is_added_to_its_memo() -> None:
    said = credit_preview(Credit(payee="Brightcart GmbH", cents=48_000, memo="Credit for INC-4101"))
    assert "480.00 EUR to Brightcart GmbH" in said
    assert "Credit for INC-4101 [our reference]" in said


def test_the_reason_of_a_change_quotes_the_figures_of_the_report_that_speak_for_it() -> None:
    said = words.change_reason(POOL, POOL.suspected_setting, was=20, value=40)
    assert "Raise database.pool_size from 20 to 40 (allowed: 20 to 60 connections)" in said
    for evidence in ("p95 of pool wait is 1.9 s", "180 free slots", "from 0.1 % to 6.4 %"):
        assert evidence in said


@pytest.mark.parametrize("incident", [one for one in INCIDENTS if one.vendor], ids=lambda one: one.id)
def test_the_reason_of_a_payment_names_its_incident_and_what_the_report_says_is_owed(incident: Incident) -> None:
    said = words.credit_reason(incident)
    assert f"{incident.vendor} is owed this because of {incident.id}" in said
    assert "The report says" in said
