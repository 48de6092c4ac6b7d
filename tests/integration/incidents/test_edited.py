"""What a person edits of a configuration change is what is done, and the agent goes on with it."""

from approvals_app.models import ApprovalRequest
from approvals_app.services.edit import approval_edit
from approvals_app.status import Via
from core.access import Role
from tests.integration.incidents.conftest import Office
from tests.people import person, principal_of


def test_an_edited_value_is_applied_and_the_task_ends_complete(office: Office) -> None:
    people = office.people
    task = office.start("INC-4101")
    office.run(task)
    request = ApprovalRequest.objects.get(task_id=task, status="requested")
    approval_edit(
        approval=request.pk,
        principal=principal_of(person("nora", people.workspace, Role.APPROVER), people.workspace),
        arguments={"value": 30},
        reason="thirty is enough",
        digest=request.digest,
        via=Via.PAGE,
    )
    assert office.decide(task) == "change #2"
    assert office.finish(task).status == "completed"
    values = office.world.http.get("/config/checkout-api").json()["values"]
    assert values["database"]["pool_size"] == 30
