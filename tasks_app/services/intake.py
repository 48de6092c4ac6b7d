"""What comes in from outside: sizes, shapes and the stored form of an intent, a title, labels, a payload."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from core.errors import InvalidInput, TooLarge
from tasks_app.criteria import Criterion, check_of, checks_known
from tasks_app.services.stored_form import foreign_value

INTENT_LIMIT = 1024 * 1024  # bytes of JSON
PAYLOAD_LIMIT = 256 * 1024  # bytes of JSON, of a signal
TEXT_LIMIT = 2000  # characters, of a reason or evidence
TITLE_LIMIT = 200
KEY_LIMIT = 200
MOST_LABELS = 32
MOST_CRITERIA = 100
BUDGETS = ("steps", "seconds", "tokens")


def field_error(field: str, reason: str) -> InvalidInput:
    """Return the error for one field."""
    return InvalidInput(f"{field}: {reason} Nothing was changed.", errors=[{"field": field, "reason": reason}])


def json_checked(field: str, value: Any, *, limit: int) -> Any:
    """Return the stored form (masked, normalised) of JSON from outside. Raises TooLarge, InvalidInput."""
    size_checked(field, value, limit=limit)
    return foreign_value(value)


def size_checked(field: str, value: Any, *, limit: int) -> None:
    """Refuse what is no JSON or takes more than ``limit`` bytes of it. Raises TooLarge, InvalidInput."""
    try:
        size = len(json.dumps(value, ensure_ascii=True))
    except (TypeError, ValueError, RecursionError) as error:
        raise field_error(field, f"is not JSON ({error}).") from error
    if size > limit:
        raise TooLarge(f"{field}: {size:,} bytes of JSON; at most {limit:,} are taken. Nothing was changed.")


def text_checked(field: str, value: str, *, limit: int = TEXT_LIMIT, required: bool = True) -> str:
    """Return the stored form of a sentence. Raises InvalidInput where it is empty or too long."""
    value = value.strip()
    if required and not value:
        raise field_error(field, "is required.")
    if len(value) > limit:
        raise field_error(field, f"has {len(value)} characters; at most {limit} are taken.")
    return str(foreign_value(value))[:limit]


def intent_checked(schema: type[BaseModel] | None, intent: Any) -> dict[str, Any]:
    """Validate an intent by the agent's schema and return it with its defaults, not yet in its stored form.

    Raises InvalidInput with each field, TooLarge.
    """
    if not isinstance(intent, Mapping):
        raise field_error("intent", "must be an object.")
    size_checked("intent", dict(intent), limit=INTENT_LIMIT)
    if schema is None:
        return dict(intent)
    try:
        return schema.model_validate(dict(intent)).model_dump(mode="json")
    except ValidationError as error:
        raise InvalidInput(
            "The intent does not fit what this agent takes; no task was created.", errors=_fields(error)
        ) from error
    except ValueError as error:  # what a schema leaves open may be too deep, or nothing that JSON has
        raise field_error("intent", f"cannot be written as JSON ({str(error)[:200]}).") from error


def _fields(error: ValidationError) -> list[dict[str, str]]:
    return [
        {"field": ".".join(["intent", *map(str, item["loc"])]), "reason": item["msg"]}
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    ]


def criteria_checked(given: Sequence[Criterion | Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the stored form of an intent's criteria. Raises InvalidInput naming a check that nobody carries."""
    if len(given) > MOST_CRITERIA:
        raise field_error("done_when", f"has {len(given)} criteria; at most {MOST_CRITERIA} are taken.")
    return [_criterion(at, item) for at, item in enumerate(given)]


def _criterion(at: int, item: Criterion | Mapping[str, Any]) -> dict[str, Any]:
    try:
        one = item if isinstance(item, Criterion) else Criterion.from_json(item)
    except (KeyError, TypeError) as error:
        raise field_error(f"done_when[{at}]", 'needs "check" and "arguments".') from error
    if not isinstance(one.check, str) or check_of(one.check) is None:
        known = ", ".join(checks_known()) or "none"
        raise field_error(f"done_when[{at}]", f"there is no check {one.check!r}; known: {known}.")
    if not isinstance(one.arguments, Mapping):
        raise field_error(f"done_when[{at}]", "its arguments must be an object.")
    return {"check": one.check, "arguments": json_checked(f"done_when[{at}]", dict(one.arguments), limit=64 * 1024)}


def labels_checked(labels: Mapping[str, Any]) -> dict[str, str]:
    """Return labels as short texts by short names. Raises InvalidInput."""
    if len(labels) > MOST_LABELS:
        raise field_error("labels", f"has {len(labels)} entries; at most {MOST_LABELS} are taken.")
    if not all(isinstance(value, str | int | bool) for value in labels.values()):
        raise field_error("labels", "takes texts, whole numbers, true and false.")
    return {
        text_checked("labels", name, limit=60): text_checked("labels", str(value), limit=200, required=False)
        for name, value in labels.items()
    }


def budget_checked(budget: Mapping[str, Any]) -> dict[str, float]:
    """Return a budget of steps, seconds and tokens. Raises InvalidInput for another name or a bad number."""
    for name, value in budget.items():
        if name not in BUDGETS:
            raise field_error(f"budget.{name}", f"is not a budget; known: {', '.join(BUDGETS)}.")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 2**53:
            raise field_error(f"budget.{name}", "must be a number above 0.")
    return dict(budget)
