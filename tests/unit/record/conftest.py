"""What these tests share: values of any kind, and a real jsonb to put them through."""

import json
from collections.abc import Callable, Iterator

import psycopg
import pytest
from django.conf import settings


@pytest.fixture(scope="module")
def through_jsonb() -> Iterator[Callable[[object], object]]:
    """Write a value as jsonb and read it back, as text that Python's JSON parser reads."""
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:

        def there_and_back(value: object) -> object:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            row = connection.execute("SELECT (%s::jsonb)::text", [text]).fetchone()
            return json.loads(row[0])

        yield there_and_back
