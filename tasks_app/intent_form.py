"""Forms made from the schema of an agent's intent or a tool's arguments; what no field fits is written as JSON."""

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from pydantic import BaseModel

from core.errors import InvalidInput
from tasks_app.registry import Agent
from tasks_app.services.intake import INTENT_LIMIT

PREFIX = "intent"
WHOLE = "intent"  # the one field where the agent declares no schema
LONG = 300  # a text that may be longer than this gets several lines
# Names under which people write more than a line, where the schema sets no limit.
_PROSE = frozenset(
    {"report", "body", "text", "description", "message", "note", "notes", "content", "prompt", "details"}
)
_NOTHING: tuple[object, ...] = ("", None, [], {})


class JsonField(forms.CharField):
    """A value of any shape, as JSON."""

    widget = forms.Textarea(attrs={"rows": 5, "class": "code", "spellcheck": "false"})

    def clean(self, value: Any) -> Any:
        """Return the value. Raises ValidationError naming the place that is no JSON."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return json.loads(text)
        except ValueError as error:
            raise forms.ValidationError(f"This is no JSON: {error}.") from error

    def prepare_value(self, value: Any) -> Any:
        """Show what was typed as it was, a default as JSON."""
        return value if isinstance(value, str) or value is None else json.dumps(value, indent=2, ensure_ascii=False)


class LinesField(forms.CharField):
    """A list of texts, one a line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def clean(self, value: Any) -> Any:
        """Return the lines that are not empty."""
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        """Show a list as lines."""
        return "\n".join(map(str, value)) if isinstance(value, list) else value


class IntentForm(forms.Form):
    """Base of the forms that are made here."""

    def intent(self) -> dict[str, Any]:
        """Return the intent; fields that were left empty are left out, so that the schema's defaults hold."""
        given: dict[str, Any] = {
            name: value for name, value in self.cleaned_data.items() if value is False or value not in _NOTHING
        }
        whole: Any = given.get(WHOLE, {}) if list(self.fields) == [WHOLE] else given
        return whole  # type: ignore[no-any-return]  # the service refuses what is no object

    def take(self, refused: InvalidInput) -> None:
        """Show the service's errors at the fields that they are about."""
        for error in refused.fields.get("errors", []):
            path = str(error.get("field", "")).split(".")
            field = path[1] if len(path) > 1 and path[1] in self.fields else (WHOLE if WHOLE in self.fields else None)
            where = ".".join(path[2:])
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


def schema_fields(model: type[BaseModel], *, only: frozenset[str] | None = None) -> dict[str, forms.Field]:
    """Return a form field for each property of a model's schema; ``only``: for these alone."""
    schema = model.model_json_schema()
    needed = frozenset(schema.get("required", []))
    return {
        name: _field(name, _resolved(part, schema), required=name in needed)
        for name, part in schema.get("properties", {}).items()
        if only is None or name in only
    }


def _resolved(part: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part with its reference followed, and of "this or nothing" the this."""
    if "$ref" in part:
        target: Any = schema
        for step in part["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return {**target, **{key: value for key, value in part.items() if key != "$ref"}}
    options = [option for option in part.get("anyOf", []) if option.get("type") != "null"]
    if len(options) == 1:
        return {**_resolved(options[0], schema), **{key: value for key, value in part.items() if key != "anyOf"}}
    return dict(part)


def _field(name: str, part: Mapping[str, Any], *, required: bool) -> forms.Field:
    common: dict[str, Any] = {
        "required": required,
        "label": name.replace("_", " ").capitalize(),
        "help_text": part.get("description", ""),
        "initial": part.get("default"),
    }
    if "const" in part or "enum" in part:
        values = part.get("enum", [part.get("const")])
        if all(isinstance(value, str) for value in values):
            empty = [] if required else [("", "(nothing)")]
            return forms.ChoiceField(choices=[*empty, *((value, value) for value in values)], **common)
    match part.get("type"):
        case "string":
            return _text(name, part, common)
        case "integer":
            return forms.IntegerField(min_value=part.get("minimum"), max_value=part.get("maximum"), **common)
        case "number":
            return forms.FloatField(
                min_value=part.get("minimum"),
                max_value=part.get("maximum"),
                widget=forms.NumberInput(attrs={"step": "any"}),
                **common,
            )
        case "boolean":
            return forms.BooleanField(**common | {"required": False})
        case "array" if part.get("items", {}).get("type") == "string" and "enum" not in part["items"]:
            hint = common["help_text"] or "One a line."
            return LinesField(**common | {"help_text": hint})
    hint = f"{common['help_text']} JSON.".strip()
    return JsonField(max_length=INTENT_LIMIT, **common | {"help_text": hint})


def _text(name: str, part: Mapping[str, Any], common: dict[str, Any]) -> forms.Field:
    most = part.get("maxLength")
    widget: forms.Widget = forms.TextInput()
    if (most or 0) > LONG or (most is None and name in _PROSE):
        widget = forms.Textarea(attrs={"rows": 5})
    elif part.get("format") == "date":
        widget = forms.DateInput(attrs={"type": "date"})
    elif part.get("pattern"):
        hint = common["help_text"] or f"Of the form {part['pattern']}"
        common = common | {"help_text": hint}
    return forms.CharField(max_length=most, min_length=part.get("minLength"), widget=widget, **common)
