"""The form in which a person edits a proposal: the fields that the tool lets them change, as its schema says."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from django import forms

from approvals_app.services.decide import MOST_REASON
from core.errors import InvalidInput
from tasks_app.contracts import Contract
from tasks_app.form_fields import NEST, JsonField, LinesField, ScalarField, field_at, put, schema_fields, value_at

PREFIX = "edit"


class EditForm(forms.Form):
    """Base of the forms that are made here."""

    def changed(self) -> dict[str, Any]:
        """Return the arguments that differ from the proposal, as values of their own kind.

        An object whose known keys are fields keeps its other keys; what was emptied and is no text is left out of it.
        """
        given: dict[str, Any] = {}
        for name in self.changed_data:
            root, *path = name.split(NEST)
            if not path:
                given[root] = self._value(name)
                continue
            proposed = self.initial.get(root)
            whole = given.setdefault(root, deepcopy(proposed) if isinstance(proposed, dict) else {})
            put(whole, path, self._value(name))
        return given

    def _value(self, name: str) -> Any:
        value, field = self.cleaned_data[name], self.fields[name]
        proposed = self.initial.get(name)
        # A browser sends every line break as two characters: that is no change that a person made.
        if isinstance(value, str) and isinstance(proposed, str) and "\r" not in proposed:
            value = value.replace("\r\n", "\n")
        plain = isinstance(field, forms.CharField) and not isinstance(field, JsonField | LinesField | ScalarField)
        return None if value == "" and not (plain and isinstance(proposed, str)) else value

    def take(self, refused: InvalidInput) -> None:
        """Show the service's errors at the fields that they are about."""
        for error in refused.fields.get("errors", []):
            path = str(error.get("field", "")).removeprefix("arguments.").split(".")
            self.add_error(field_at(self.fields, path)[0], str(error["reason"]))
        if not self.errors:
            self.add_error(None, refused.detail)


class EditReasonForm(forms.Form):
    """Why it is edited, and of which call."""

    reason = forms.CharField(
        max_length=MOST_REASON,
        strip=True,
        label="Why you change it",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Kept in the record; the agent reads it.",
    )
    digest = forms.CharField(max_length=64, widget=forms.HiddenInput)


def edit_form(contract: Contract) -> type[EditForm]:
    """Return the form class for a tool's editable arguments."""
    fields = schema_fields(contract.arguments, only=contract.editable)
    for field in fields.values():
        if isinstance(field, forms.CharField) and not isinstance(field, JsonField | LinesField):
            field.strip = False
    return type("MadeEditForm", (EditForm,), dict(fields))


def initial_of(contract: Contract, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the form begins with: the proposal."""
    fields = schema_fields(contract.arguments, only=contract.editable)
    whole = {name: arguments.get(name) for name in sorted(contract.editable)}
    return whole | {name: value_at(arguments, name.split(NEST)) for name in fields}
