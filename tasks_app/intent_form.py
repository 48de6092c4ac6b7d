"""Forms made from the schema of an agent's intent."""

from typing import Any

from django import forms

from core.errors import InvalidInput
from tasks_app.form_fields import NEST, JsonField, field_at, nested, schema_fields
from tasks_app.registry import Agent
from tasks_app.services.intake import INTENT_LIMIT

PREFIX = "intent"
WHOLE = "intent"  # the one field where the agent declares no schema
_NOTHING: tuple[object, ...] = ("", None, [], {})


class IntentForm(forms.Form):
    """Base of the forms that are made here."""

    def intent(self) -> dict[str, Any]:
        """Return the intent; fields that were left empty are left out, so that the schema's defaults hold."""
        given: dict[str, Any] = {
            name: value for name, value in self.cleaned_data.items() if value is False or value not in _NOTHING
        }
        if list(self.fields) == [WHOLE]:
            whole: Any = given.get(WHOLE, {})
            return whole  # type: ignore[no-any-return]  # the service refuses what is no object
        return nested({name: value for name, value in given.items() if self._is_begun(name, given)})

    def _is_begun(self, name: str, given: dict[str, Any]) -> bool:
        """Whether the object that a field is part of is meant at all: a box that is not ticked begins none."""
        root, inside, _ = name.partition(NEST)
        if not inside:
            return True
        beside = [one for one in self.fields if one.startswith(root + NEST)]
        return any(self.fields[one].required or given.get(one, False) is not False for one in beside)

    def take(self, refused: InvalidInput) -> None:
        """Show the service's errors at the fields that they are about."""
        for error in refused.fields.get("errors", []):
            path = str(error.get("field", "")).split(".")[1:]
            field, where = field_at(self.fields, path)
            if field is None and WHOLE in self.fields:
                field, where = WHOLE, ".".join(path[1:])
            self.add_error(field, f"{where}: {error['reason']}" if where else str(error["reason"]))
        if not self.errors:
            self.add_error(None, refused.detail)


def intent_form(agent: Agent) -> type[IntentForm]:
    """Return the form class for an agent."""
    if agent.intent is None:
        help_text = "This agent declares no schema: write its intent as a JSON object."
        field = JsonField(label="Intent", help_text=help_text, max_length=INTENT_LIMIT)
        return type("OpenIntentForm", (IntentForm,), {WHOLE: field})
    return type("MadeIntentForm", (IntentForm,), schema_fields(agent.intent))
