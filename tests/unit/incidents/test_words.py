"""What the incident agent and its tools tell people is what they do."""

from chaos_app.incidents.payments import Credit, credit_preview


def test_the_preview_of_a_payment_says_its_money_and_what_is_added_to_its_memo() -> None:
    said = credit_preview(Credit(payee="Brightcart GmbH", cents=48_000, memo="Credit for INC-4101"))
    assert "480.00 EUR to Brightcart GmbH" in said
    assert "Credit for INC-4101 [our reference]" in said
