"""A moment in a sentence: the words after it follow at once, and nothing of it is escaped twice."""

from datetime import UTC, datetime

from django.template import Context, Template

MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def shown(source: str, moment: datetime | None = MOMENT) -> str:
    return Template("{% load handrail %}" + source).render(Context({"moment": moment}))


def test_a_sentence_goes_on_at_once_after_a_moment():
    for source in ("{% when moment %}. Done", "{% when moment both=True %}. Done"):
        text = shown(f"Since {source}")
        assert ">. Done" in text
        assert "&lt;" not in text
    assert shown("Since {% when moment %}. Done", None) == 'Since <span class="quiet">never</span>. Done'
