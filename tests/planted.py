"""Hostile text in every field that somebody outside can fill: rows of every kind, then each of their texts replaced."""

import re
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection, models

# A script, a picture that asks elsewhere, a handler, a form, reversed and invisible characters, a word without an end.
HOSTILE = (
    "</script><script>document.title='run'</script><img src=//evil.example/x onerror=document.title='run' id=planted>"
    "'\"><b id=planted onmouseover=1>\u202etxt.exe\u202c\u200b\x1b[31m{{ 7|add:7 }}<form action=//evil.example>"
    "<style>*{display:none}</style>" + "W" * 90
)
OURS = ("core", "tasks_app", "approvals_app", "notify", "chaos_app")
# Names of calls are in rows and events alike: what is planted there is planted when they are made.
# Words that the program itself chose and looks things up by: names of tools and agents, kinds, states, digests, ids.
WORD = re.compile(r"[a-z0-9_.:/@+*?=&%#|-]*|\d{4}-\d\d-\d\dT\S*|[0-9a-fA-F-]{32,}|[A-Z]\d\d[\w.-]*")
KEPT = {
    *("name", "kind", "status", "state", "scope", "slug", "query", "digest", "key", "business_key", "same_call"),
    *("policy", "schema_digest", "code_digest", "body_digest", "hint", "token_digest", "username", "password"),
    *("tool", "agent", "cron", "zone", "folder", "row", "klass", "cell", "suite", "group", "actor", "principal"),
    *("condition", "rule", "verdict", "address", "secret", "sealed", "wait", "open_wait", "budget", "spent"),
    *("carries", "media_type", "sha256", "system_identifier", "declared", "shown", "loss_place", "decision"),
    *("command", "pool", "stop", "fault", "stage", "proof", "end", "invariant"),
}


def plant() -> int:
    """Replace every text of every row of ours that is not one of the program's own words; returns how many."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tasks_app_event DISABLE TRIGGER USER")
    planted = 0
    for model in (*(m for m in apps.get_models() if m._meta.app_label in OURS), User):
        planted += sum(_row(model, row) for row in model._default_manager.all())
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tasks_app_event ENABLE TRIGGER USER")
    return planted


def _row(model: type[models.Model], row: models.Model) -> int:
    new = {}
    for field in model._meta.concrete_fields:
        if field.primary_key or field.choices or field.name in KEPT or field.unique:
            continue
        old = getattr(row, field.attname)
        if isinstance(field, models.JSONField):
            found = _replaced(old)
        elif isinstance(field, (models.CharField, models.TextField)) and old and not WORD.fullmatch(old):
            found = HOSTILE[: field.max_length]
        else:
            continue
        if found != old:
            new[field.attname] = found
    if new:
        model._default_manager.filter(pk=row.pk).update(**new)
    return len(new)


def _replaced(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: one if key in KEPT else _replaced(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_replaced(one) for one in value]
    return HOSTILE if isinstance(value, str) and not WORD.fullmatch(value) else value
