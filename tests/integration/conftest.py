"""After each test that ran real slices: every row is what its events say."""

from collections.abc import Generator

import pytest

# Tests elsewhere put rows into states of their own, past any event.
REPLAYED = ("tests/integration/runtime/", "tests/integration/incidents/")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    result = yield
    if item.nodeid.startswith(REPLAYED) and {"db", "transactional_db"} & set(getattr(item, "fixturenames", ())):
        from tasks_app.models import Task
        from tasks_app.record.rebuild import task_differences

        for task in Task.objects.values_list("pk", flat=True):
            assert not (wrong := task_differences(task)), wrong
    return result
