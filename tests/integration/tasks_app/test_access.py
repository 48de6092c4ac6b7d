"""Tokens: shown once, hashed, scoped, expiring, revocable; every change of rights is in the administration stream."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from core.access import Right, Role, may
from core.errors import Unauthenticated
from core.models import ApiToken, Membership
from core.principal import token_principal
from core.seed import demo_seed
from core.tokens import token_find
from tasks_app.models import Event
from tasks_app.services.access import roles_set, token_create, token_revoke
from tasks_app.services.intake import InvalidInput
from tests.people import People


def make(people: People, *scopes: Right, kind: str = "person") -> tuple[ApiToken, str]:
    return token_create(
        workspace=people.workspace,
        user=people.rhea,
        name="ci",
        scopes=scopes or (Right.TASKS_READ,),
        days=1,
        actor="person:rhea",
        kind=kind,
    )


def test_only_a_hash_is_kept_and_the_secret_finds_the_token(people: People) -> None:
    token, secret = make(people)
    stored = ApiToken.objects.get(pk=token.pk)
    assert secret not in str(vars(stored))
    assert stored.hint == secret[:10]
    assert token_find(secret=secret).pk == token.pk
    assert ApiToken.objects.get(pk=token.pk).last_used_at is not None


def test_an_unknown_expired_revoked_token_and_one_of_an_inactive_person_are_refused_alike(people: People) -> None:
    _, expired = make(people)
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    revoked_token, revoked = make(people)
    token_revoke(workspace=people.workspace, token=revoked_token.pk, actor="person:rhea")
    said = set()
    for secret in ("hr_guess", expired, revoked):
        with pytest.raises(Unauthenticated) as caught:
            token_find(secret=secret)
        said.add(caught.value.detail)
    _, good = make(people)
    type(people.rhea).objects.filter(pk=people.rhea.pk).update(is_active=False)
    with pytest.raises(Unauthenticated):
        token_find(secret=good)
    assert len(said) == 1


def test_a_tokens_rights_are_its_scopes_as_far_as_the_roles_carry_them(people: People) -> None:
    token, _ = make(people, Right.TASKS_READ, Right.ADMINISTER)
    principal = token_principal(token)
    assert principal.may(Right.TASKS_READ)
    assert not principal.may(Right.TASKS_CREATE)
    assert not principal.may(Right.ADMINISTER)
    Membership.objects.filter(user=people.rhea).delete()
    assert not token_principal(token).may(Right.TASKS_READ)


@pytest.mark.parametrize("right", [Right.APPROVALS_DECIDE, Right.TASKS_SETTLE])
def test_a_programs_token_never_decides_an_approval_nor_settles_a_doubt(people: People, right: Right) -> None:
    with pytest.raises(InvalidInput, match="never decide"):
        make(people, right, kind="agent")
    token, _ = make(people, kind="agent")
    token.scopes = [right]  # not even where somebody has written the scope into its row
    principal = token_principal(token)
    assert may(principal.roles, right)
    assert not principal.may(right)
    assert principal.actor == "agent-token:ci"


def test_changes_of_rights_are_recorded_with_author_and_difference(people: People) -> None:
    roles_set(workspace=people.workspace, user=people.silas, roles=[Role.VIEWER], actor="person:rhea")
    roles_set(workspace=people.workspace, user=people.silas, roles=[Role.VIEWER], actor="person:rhea")
    change = Event.objects.get(stream=people.workspace.pk)
    assert (change.kind, change.actor) == ("role.changed", "person:rhea")
    assert (change.data["before"], change.data["after_change"]) == (["approver", "operator"], ["viewer"])


@pytest.mark.parametrize("right", [Right.TASKS_READ, Right.TASKS_CREATE, Right.APPROVALS_DECIDE])
def test_a_persons_token_is_made_by_that_person_or_on_the_server(people: People, right: Right) -> None:
    """Whoever made it could start or edit in their name, and then approve it in the own one."""

    def by(actor: str, right: Right, kind: str = "person") -> ApiToken:
        given = {"name": "t", "scopes": [right], "days": 1, "actor": actor, "kind": kind}
        return token_create(workspace=people.workspace, user=people.rhea, **given)[0]

    with pytest.raises(InvalidInput, match="made by themselves"):
        by("person:silas", right)
    assert not ApiToken.objects.exists()
    made = [by("person:silas", Right.TASKS_READ, "agent"), by("person:rhea", right), by("system", right)]
    assert ApiToken.objects.count() == len(made)


def test_the_token_command_makes_lists_and_revokes(people: People) -> None:
    out = StringIO()
    made = ["token", "create", "rhea", "--workspace", "harbour", "--scope", "tasks:read", "--days", "2"]
    call_command(*made, stdout=out, stderr=StringIO())
    secret = out.getvalue().strip()
    token = token_find(secret=secret)
    listed = StringIO()
    call_command("token", "list", "--workspace", "harbour", stdout=listed)
    assert secret[:10] in listed.getvalue()
    assert secret not in listed.getvalue()
    call_command("token", "revoke", str(token.pk), "--workspace", "harbour", stdout=StringIO())
    with pytest.raises(Unauthenticated):
        token_find(secret=secret)


def test_the_token_command_says_what_is_wrong(people: People) -> None:
    with pytest.raises(CommandError, match="name at least one of"):
        call_command("token", "create", "rhea", "--workspace", "harbour")
    with pytest.raises(CommandError, match="no workspace"):
        call_command("token", "list", "--workspace", "nowhere")
    with pytest.raises(CommandError, match=r"Say which workspace with --workspace. There are: .*harbour"):
        call_command("token", "list")


def test_a_token_of_the_only_workspace_needs_no_word_about_it(people: People) -> None:
    people.elsewhere.memberships.all().delete()
    people.elsewhere.delete()
    out = StringIO()
    call_command("token", "create", "rhea", "--scope", "tasks:read", stdout=out, stderr=StringIO())
    assert token_find(secret=out.getvalue().strip()).workspace == people.workspace


def test_the_workspace_command_makes_a_workspace_and_sets_roles(people: People) -> None:
    call_command("workspace", "create", "docks", "Docks", stdout=StringIO())
    call_command("workspace", "member", "docks", "silas", "viewer", stdout=StringIO())
    assert Membership.objects.get(workspace__slug="docks").user == people.silas
    with pytest.raises(CommandError, match="this name already"):
        call_command("workspace", "create", "docks", "Docks", stdout=StringIO())


def test_seeding_the_demo_twice_changes_nothing(db: None) -> None:
    first, events = demo_seed(), Event.objects.count()
    again = demo_seed()
    assert (again.workspace.pk, again.rhea.pk, Event.objects.count()) == (first.workspace.pk, first.rhea.pk, events)
    assert not first.rhea.has_usable_password()
