"""The stored form of what people and programs send: the row and its event must hold the same."""

from functools import cache
from typing import Any

from django.conf import settings

from tasks_app.record.masker import Masker
from tasks_app.record.prepare import prepare


@cache
def _masker() -> Masker:
    known = [settings.SECRET_KEY, str(settings.DATABASES["default"].get("PASSWORD") or "")]
    return Masker([secret for secret in known if len(secret) >= 8], key=settings.SECRET_KEY.encode())


def foreign_value(value: Any) -> Any:
    """Return ``value`` masked and normalised, as the record will give it back. Never raises."""
    return prepare(value, masker=_masker()).value
