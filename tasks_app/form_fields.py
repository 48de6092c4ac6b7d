"""Form fields made from a JSON schema: objects of known keys field by field; what no field fits is written as JSON."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from pydantic import BaseModel

from core.json_text import NotJson, UnfitJson, json_read, json_shown
from tasks_app.services.intake import INTENT_LIMIT

NEST = "/"  # in a field's name, between an object and a key of it: no name of Python has this sign
DEEPEST = 3  # levels of objects in objects that are shown field by field
LONG = 300  # a text that may be longer than this gets several lines
# Names under which people write more than a line, where the schema sets no limit.
_PROSE = frozenset(
    {"report", "body", "text", "description", "message", "note", "notes", "content", "prompt", "details"}
)
_KINDS = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "a text"}


class JsonField(forms.CharField):
    """A value of any shape, as JSON."""

    widget = forms.Textarea(attrs={"rows": 5, "class": "code", "spellcheck": "false"})

    def clean(self, value: Any) -> Any:
        """Return the value. Raises ValidationError naming the place that is no JSON, or why it cannot be kept."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return json_read(text)
        except (NotJson, UnfitJson) as refused:
            raise forms.ValidationError(str(refused)) from refused

    def prepare_value(self, value: Any) -> Any:
        """Show what was typed as it was, a default as JSON."""
        return value if isinstance(value, str) or value is None else json_shown(value, indent=2)


class LinesField(forms.CharField):
    """A list of texts, one a line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def clean(self, value: Any) -> Any:
        """Return the lines that are not empty."""
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        """Show a list as lines."""
        return "\n".join(map(str, value)) if isinstance(value, list) else value


class _Typed(str):
    """What a person typed, to be told from a value that is to be shown."""

    __slots__ = ()


class ScalarField(forms.CharField):
    """One line for a value that may be of several kinds, such as a number or a text."""

    def __init__(self, *, kinds: Iterable[str], **more: Any) -> None:
        self.kinds = [kind for kind in _KINDS if kind in set(kinds)]
        super().__init__(**more)

    def clean(self, value: Any) -> Any:
        """Return the value in the kind in which it is written. Raises ValidationError for one of no kind allowed."""
        text = super().clean(value)
        if not text:
            return None
        read = _read(text)
        if self._fits(read):
            return read
        if "string" in self.kinds:
            return text
        raise forms.ValidationError(f"Write {' or '.join(_KINDS[kind] for kind in self.kinds)}.")

    def _fits(self, value: Any) -> bool:
        kinds = {bool: {"boolean"}, int: {"integer", "number"}, float: {"number"}, str: {"string"}}
        return bool(kinds.get(type(value), set()) & set(self.kinds))

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Mark what was typed: it is shown as it was."""
        return None if data is None else _Typed(data)

    def prepare_value(self, value: Any) -> Any:
        """Show a value; a text that would be read as something else stands in quotes."""
        if value is None or isinstance(value, _Typed):
            return value
        return value if isinstance(value, str) and _read(value) == value else json.dumps(value, ensure_ascii=False)

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether the value differs, or its kind."""
        try:
            value = self.clean(data)
        except forms.ValidationError:
            return True
        return type(value) is not type(initial) or bool(value != initial)


def _read(text: str) -> Any:
    try:
        return json_read(text)
    except (NotJson, UnfitJson):
        return text


def schema_fields(model: type[BaseModel], *, only: frozenset[str] | None = None) -> dict[str, forms.Field]:
    """Return the form fields for a model's schema; ``only``: for these properties alone."""
    schema = model.model_json_schema()
    needed = frozenset(schema.get("required", []))
    made: dict[str, forms.Field] = {}
    for name, part in schema.get("properties", {}).items():
        if only is None or name in only:
            made |= _fields((name,), part, schema, required=name in needed)
    return made


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of fields as the objects that they are parts of."""
    whole: dict[str, Any] = {}
    for name, value in values.items():
        put(whole, name.split(NEST), value)
    return whole


def put(whole: dict[str, Any], path: list[str], value: Any) -> None:
    """Set a key in objects within objects; None takes it out, so that the schema's default holds."""
    for step in path[:-1]:
        if not isinstance(whole.get(step), dict):
            whole[step] = {}
        whole = whole[step]
    if value is None:
        whole.pop(path[-1], None)
    else:
        whole[path[-1]] = value


def value_at(whole: Any, path: list[str]) -> Any:
    """Return what stands at a path, None where nothing does."""
    for step in path:
        whole = whole.get(step) if isinstance(whole, Mapping) else None
    return whole


def field_at(fields: Mapping[str, Any], path: list[str]) -> tuple[str | None, str]:
    """Return the field that a place in the values belongs to, and where within it."""
    for end in range(len(path), 0, -1):
        name = NEST.join(path[:end])
        inside = next((one for one in fields if one.startswith(name + NEST)), None)
        if name in fields or inside:
            return name if name in fields else inside, ".".join(path[end:])
    return None, ""


def _fields(
    path: tuple[str, ...], part: Mapping[str, Any], schema: Mapping[str, Any], *, required: bool
) -> dict[str, forms.Field]:
    part = _resolved(part, schema)
    if not _has_known_keys(part) or len(path) >= DEEPEST:
        return {NEST.join(path): _field(path, part, required=required)}
    made: dict[str, forms.Field] = {}
    for key, one in part["properties"].items():
        default = value_at(part.get("default"), [key])
        inside = one if default is None else {**one, "default": default}
        made |= _fields((*path, key), inside, schema, required=required and key in part.get("required", []))
    return made


def _has_known_keys(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "object" and bool(part.get("properties")) and not part.get("additionalProperties")


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


def _field(path: tuple[str, ...], part: Mapping[str, Any], *, required: bool) -> forms.Field:
    common: dict[str, Any] = {
        "required": required,
        "label": ", ".join(step.replace("_", " ") for step in path).capitalize(),
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
            return _text(path[-1], part, common)
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
    return _of_kinds(part, common) or _as_json(common)


def _of_kinds(part: Mapping[str, Any], common: dict[str, Any]) -> forms.Field | None:
    """Return one line for "a number or a text" and the like; None where something else is allowed."""
    kinds = [option.get("type") for option in part.get("anyOf", []) if option.get("type") != "null"]
    if not kinds or not all(kind in _KINDS for kind in kinds):
        return None
    words = [words for kind, words in _KINDS.items() if kind in kinds and not (kind == "integer" and "number" in kinds)]
    hint = f"{common['help_text']} {' or '.join(words).capitalize()}.".strip()
    return ScalarField(kinds=kinds, max_length=INTENT_LIMIT, **common | {"help_text": hint})


def _as_json(common: dict[str, Any]) -> forms.Field:
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
