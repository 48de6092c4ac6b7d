"""Editing a proposal: objects of known keys are edited field by field, values of several kinds on one line."""

from typing import Any

import pytest
from pydantic import BaseModel

from approvals_app.edit_form import PREFIX, EditForm, edit_form, initial_of
from core.errors import InvalidInput
from tasks_app.contracts import Answer, Contract
from tasks_app.form_fields import NEST, JsonField
from tests.here import HERE


class Street(BaseModel):
    name: str
    number: int = 1


class Address(BaseModel):
    city: str
    street: Street
    note: str | None = None


class Send(BaseModel):
    to: Address
    value: int | float | bool | str
    extra: dict[str, int] = {}
    way: Address | None = None


def execute(args: Any, context: Any) -> Answer:
    return Answer()


SEND = Contract(
    name="edit.send",
    version=1,
    arguments=Send,
    effect_class="keyed",
    execute=execute,
    **HERE,
    editable=frozenset({"to", "value", "extra"}),
)
PROPOSED: dict[str, Any] = {
    "to": {"city": "Kiel", "street": {"name": "Quay", "number": 4}, "floor": 2},
    "value": 8,
    "extra": {"a": 1},
}
CITY, STREET, NUMBER, NOTE = "to/city", "to/street/name", "to/street/number", "to/note"


def typed(values: dict[str, str], proposed: Any = PROPOSED) -> EditForm:
    """Return the form as a browser would send it, with some fields changed."""
    start = initial_of(SEND, proposed)
    shown = edit_form(SEND)(initial=start, prefix=PREFIX)
    data = {f"{PREFIX}-{one.name}": one.value() for one in shown}
    data = {name: "" if value is None else str(value) for name, value in data.items()}
    data |= {f"{PREFIX}-{name}": value for name, value in values.items()}
    return edit_form(SEND)(data, initial=start, prefix=PREFIX)


def changed(form: EditForm) -> dict[str, Any]:
    assert form.is_valid(), form.errors
    given = form.changed()
    return {name: value for name, value in given.items() if name != "extra"}


def test_an_object_has_a_field_for_each_of_its_known_keys_and_json_for_the_others() -> None:
    fields = edit_form(SEND)().fields
    assert set(fields) == {CITY, STREET, NUMBER, NOTE, "value", "extra"}
    assert isinstance(fields["extra"], JsonField)
    assert (fields[NUMBER].label, fields[CITY].required, fields[NOTE].required) == ("To, street, number", True, False)
    assert initial_of(SEND, PROPOSED)[NUMBER] == 4


def test_a_changed_field_changes_its_object_alone_and_keeps_its_other_keys() -> None:
    assert changed(typed({})) == {}
    expected = {"city": "Kiel", "street": {"name": "Quay", "number": 7}, "floor": 2}
    assert changed(typed({NUMBER: "7"})) == {"to": expected}
    assert PROPOSED["to"]["street"]["number"] == 4  # the proposal is left alone
    noted = {**PROPOSED, "to": {**PROPOSED["to"], "note": "ring"}}
    assert changed(typed({NOTE: ""}, noted)) == {"to": {**PROPOSED["to"], "note": ""}}
    far = changed(typed({NUMBER: ""}))  # the schema's default holds
    assert far == {"to": {"city": "Kiel", "street": {"name": "Quay"}, "floor": 2}}


def test_a_refusal_stands_at_the_field_that_it_is_about() -> None:
    form = typed({NUMBER: "7"})
    assert form.is_valid()
    form.take(InvalidInput("no", errors=[{"field": "arguments.to.street.number", "reason": "too far"}]))
    assert form.errors == {NUMBER: ["too far"]}


@pytest.mark.parametrize(
    ("text", "value"),
    [("9", 9), ("8.5", 8.5), ("true", True), ("wide", "wide"), ('"8"', "8"), ("8", None), ("8.0", 8.0)],
)
def test_a_value_of_several_kinds_keeps_the_kind_in_which_it_is_written(text: str, value: Any) -> None:
    assert changed(typed({"value": text})) == ({} if value is None else {"value": value})


@pytest.mark.parametrize("text", ["8", "true", '"8"', "null"])
def test_a_text_that_reads_as_something_else_is_shown_in_quotes_and_stays_a_text(text: str) -> None:
    form = typed({}, {**PROPOSED, "value": text})
    assert changed(form) == {}
    assert form["value"].value() != text
    assert NEST not in form["value"].html_name
