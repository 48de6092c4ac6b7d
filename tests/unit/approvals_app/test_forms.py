"""Forms of people: a mistake is pointed at."""

import pytest

from approvals_app.forms import ObjectField


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1 "b"}', 'line 1, column 9, before “"b"}”'),
        ('{\n "a": 1,\n "b"}', "line 3, column 5, before “}”"),
        ('{"a": 1', "line 1, column 8, at the end"),
        ("[1]", "Write a JSON object"),
    ],
)
def test_what_is_no_json_object_is_refused_with_the_place(text: str, said: str) -> None:
    from django.core.exceptions import ValidationError

    with pytest.raises(ValidationError) as refused:
        ObjectField().clean(text)
    assert said in refused.value.messages[0]
