"""What a person reads when something goes wrong: what happened, what still holds, what to do, a reference."""

import logging
import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

from core.errors import Conflict, HandrailError, Unavailable
from core.failures import FAILURES
from core.problem import problem_answer
from core.urls import handler400, handler403, handler404, handler500  # noqa: F401 - Django reads them here
from core.urls import urlpatterns as product

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]

CAUSES = {
    "conflict": Conflict("Maria denied it at 12:03:22."),
    "away": Unavailable("The broker does not answer."),
    "denied": PermissionDenied("Approvers only."),
    "odd": SuspiciousOperation("odd"),
    "boom": RuntimeError("secret of the code"),
    "database": OperationalError("secret of the connection"),
}


def fail(request: HttpRequest, cause: str) -> HttpResponse:
    if cause == "full":  # as Postgres itself says it
        with connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$")
    raise CAUSES[cause.splitlines()[0]]


urlpatterns = [*product, path("fail/<str:cause>/", fail)]


@pytest.fixture
def client() -> Client:
    found = Client(raise_request_exception=False)
    found.force_login(get_user_model().objects.create_user("olivia"))
    return found


@pytest.mark.filterwarnings("ignore:Bad Request", "ignore:Forbidden")
@pytest.mark.parametrize(
    ("cause", "status", "sentence"),
    [
        ("conflict", 409, "Maria denied it at 12:03:22."),
        ("away", 503, "The broker does not answer."),
        ("denied", 403, "Approvers only."),
        ("odd", 400, "The address or the form that arrived is malformed."),
        ("boom", 500, "Tasks that are running go on"),
        ("full", 503, "The disk of the database is full"),
        ("database", 503, "tasks continue by themselves when the database is back"),
        ("nothing/here", 404, "There is nothing at this address"),
    ],
)
def test_a_failure_is_explained_on_a_page(client: Client, cause: str, status: int, sentence: str) -> None:
    answer = client.get(f"/fail/{cause}/")
    assert answer.status_code == status
    assert sentence in answer.text
    assert "secret" not in answer.text
    assert re.search(r"Reference to quote: <code>[0-9a-f]{10}</code>", answer.text)


def test_a_page_that_can_be_asked_again_offers_it_and_what_was_sent_is_not_sent_again(client: Client) -> None:
    for cause in ("boom", "away", "database"):
        assert f'href="/fail/{cause}/?q=%22">Try again</a>' in client.get(f"/fail/{cause}/?q=%22").text
        assert "Try again</a>" not in client.post(f"/fail/{cause}/").text
    for cause in ("nothing/here", "denied", "conflict"):
        assert "Try again</a>" not in client.get(f"/fail/{cause}/").text
    assert 'href="/%2Felsewhere' not in client.get("//elsewhere.example/").text


def test_the_reference_finds_the_failure_in_the_log(client: Client, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, logger="handrail.pages"):
        answer = client.get("/fail/boom/")
    (reference,) = re.findall(r"<code>([0-9a-f]{10})</code>", answer.text)
    (record,) = [record for record in caplog.records if reference in record.getMessage()]
    assert record.exc_info is not None
    assert "secret of the code" in str(record.exc_info[1])


def test_a_path_with_line_feeds_writes_no_line_of_its_own_into_the_log(client: Client, rf: Any, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, logger="handrail"):
        assert client.get("/fail/boom%0AERROR forged=1 %E2%80%A8/").status_code == 500
        assert problem_answer(rf.get("/api/v1/x%0AERROR forged=1 %E2%80%A8"), RuntimeError("boom")).status_code == 500
    said = [record.getMessage() for record in caplog.records if record.name.startswith("handrail.")]
    forged = [line for line in said if "forged" in line]
    assert [len(line.splitlines()) for line in forged] == [1, 1]
    assert all("\\nERROR forged=1 \\u2028" in line for line in forged)


def test_every_domain_error_has_a_page(client: Client) -> None:
    def kinds(of: type[HandrailError]) -> set[type[HandrailError]]:
        return {of}.union(*(kinds(kind) for kind in of.__subclasses__()))

    assert {kind.status for kind in kinds(HandrailError)} <= FAILURES.keys()


def test_the_page_of_a_failing_database_asks_it_nothing(client: Client, django_assert_num_queries: Any) -> None:
    # Session and user are read before the view; the page itself reads nothing.
    with django_assert_num_queries(0):
        client.get("/fail/database/")
