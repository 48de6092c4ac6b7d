"""Real servers for the tests: one private Postgres and Valkey a run, one database of each a test process."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from celery import current_app
from django.db import OperationalError, connection
from django.db.backends.postgresql.operations import DatabaseOperations
from hypothesis import HealthCheck
from hypothesis import settings as examples
from psycopg.errors import DeadlockDetected, LockNotAvailable

from core.embedded import address
from core.embedded.services import Services, embedded
from tasks_app.wake import broker
from tests.chromium import CHROMIUM, LEFT_OUT

pytest_plugins = ["tests.limits", "tests.people", "tests.told"]
# How long an example takes says how busy the machine is. All else stays: under CI the same examples each time.
examples.register_profile("patient", examples.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.load_profile("patient")

# Processes are killed here, machines are not: what was written, though not synced, outlives a killed server.
QUICK = {"fsync": "off", "full_page_writes": "off"}
RUN = ExitStack()
LOCK_SECONDS = 30
OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def pytest_configure(config: pytest.Config) -> None:
    """Start the servers once, in the process that pytest-xdist's workers come from."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a run in the background: what is started here hears Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if CHROMIUM is None and os.environ.get("HANDRAIL_REQUIRE_BROWSER"):
        raise pytest.UsageError(f"{LEFT_OUT} HANDRAIL_REQUIRE_BROWSER is set, so this run cannot do without.")
    if hasattr(config, "workerinput") or os.environ.get("DATABASE_URL") or config.option.collectonly:
        return
    var = Path(os.environ["HANDRAIL_TEST_VAR"])
    services = RUN.enter_context(embedded(var, settings=QUICK))
    with psycopg.connect(services.postgres.superuser_url, autocommit=True) as superuser:
        superuser.execute("GRANT SET ON PARAMETER session_replication_role TO handrail")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: from the first of them on, Playwright's event loop runs in this thread."""
    browser = Path(__file__).parent / "browser"
    items.sort(key=lambda item: browser in item.path.parents)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what this run started; the last line of the run says what it did not test."""
    RUN.close()
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if any(LEFT_OUT in str(report.longrepr) for report in skipped):
        reporter.write_line(LEFT_OUT)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """End what processes that have just been killed still hold, so that the database of the run can be dropped."""
    yield
    with django_db_blocker.unblock():
        _statement(f"SELECT pg_terminate_backend(pid, 5000) {OTHERS}")


@pytest.fixture(scope="session", autouse=True)
def _flush_past_the_append_only_triggers() -> Iterator[None]:
    """Let the flush between tests truncate the record, which nobody else may (a right given to the test role alone)."""
    flush = DatabaseOperations.execute_sql_flush

    def execute_sql_flush(self: DatabaseOperations, sql_list: list[str]) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = 'replica'")
            try:
                _flush_against_readers(lambda: flush(self, sql_list))
            finally:
                cursor.execute("SET session_replication_role = 'origin'")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "execute_sql_flush", execute_sql_flush)
        yield


def _flush_against_readers(flush: Callable[[], None], tries: int = 10) -> None:
    """Flush again where a process of the test, a web process whose page was just closed, read at the same moment.

    What is still held after LOCK_SECONDS is never given back: its holder is ended, and the test fails with its words.
    """
    _statement(f"SET lock_timeout = '{LOCK_SECONDS}s'")
    try:
        for left in reversed(range(tries)):
            try:
                return flush()
            except OperationalError as error:
                if isinstance(error.__cause__, LockNotAvailable):
                    held = _statement(f"SELECT state, query {OTHERS} AND state <> 'idle'")
                    _statement(f"SELECT pg_terminate_backend(pid, 5000) {OTHERS}")
                    flush()
                    raise AssertionError(f"A process that this test left held its tables: {held}") from error
                if not (left and isinstance(error.__cause__, DeadlockDetected)):
                    raise
    finally:
        _statement("RESET lock_timeout")


def _statement(text: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def child_environment(transactional_db: None, settings: Any) -> dict[str, str]:
    """The environment for processes that must see this test's committed rows and messages: workers, web, sweeper.

    Wake-ups that tests without workers have left are taken away: a worker would work through hundreds of them first.
    """
    broker.use(lambda connection: connection.default_channel.queue_purge(current_app.conf.task_default_queue))
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "core.settings",
        "DATABASE_URL": database_url(connection.settings_dict),
        "REDIS_URL": settings.REDIS_URL,
        "CELERY_BROKER_URL": address.celery_broker_url(settings.REDIS_URL),
        "HANDRAIL_EXIT_STATUS_SECONDS": "5",  # on a busy machine a parent takes long to say how its child ended
    }


@pytest.fixture
def private_services(tmp_path: Path) -> Iterator[Callable[[], Services]]:
    """Start servers that this test alone uses, and may therefore kill and restart."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(embedded(tmp_path / "var", settings=QUICK))


def database_url(settings: dict[str, Any]) -> str:
    """Write Django's settings of a database as an address."""
    user, password = quote(settings["USER"] or ""), quote(settings["PASSWORD"] or "")
    account = f"{user}:{password}" if password else user
    host, port = settings["HOST"] or "", settings["PORT"]
    if host.startswith("/"):
        return f"postgresql://{account}@/{settings['NAME']}?host={quote(host)}"
    return f"postgresql://{account}@{host}{f':{port}' if port else ''}/{settings['NAME']}"
