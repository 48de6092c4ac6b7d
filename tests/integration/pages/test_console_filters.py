"""A list of the console is narrowed by its filters alone: what it does not show cannot be asked for by its address."""

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.admin.utils import label_for_field
from django.db.models import Field, ForeignKey
from django.test import Client
from django.urls import reverse

from approvals_app.notify.models import Channel
from core.access import Role
from core.models import Membership
from tests.people import People


@pytest.fixture
def mine(client_of: Any, people: People) -> Client:
    Membership.objects.create(user=people.rhea, workspace=people.workspace, role=Role.ADMIN)
    return client_of(people.rhea)


def listed(client: Client, model: type, **asked: str) -> int:
    return client.get(reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_changelist"), asked).status_code


def offered(one: Any) -> set[str]:
    return {named if isinstance(named, str) else named[0] for named in (*one.list_filter, one.date_hierarchy) if named}


def columns(model: Any) -> Iterator[str]:
    """Every column of a model, and of what it points to."""
    field: Field[Any, Any]
    for field in model._meta.concrete_fields:
        yield field.name
        if isinstance(field, ForeignKey):
            yield from (f"{field.name}__{theirs.name}" for theirs in field.related_model._meta.concrete_fields)


def test_no_list_is_narrowed_by_a_column_that_its_filters_do_not_offer(mine: Client):
    for model, one in admin.site._registry.items():
        kept = offered(one)
        for column in set(columns(model)) - kept - {f"{name}__id" for name in kept}:
            assert listed(mine, model, **{column: "x"}) == 400, (model, column)
            assert listed(mine, model, **{f"{column}__startswith": "x"}) == 400, (model, column)


def test_each_filter_that_a_list_offers_is_taken(mine: Client):
    for model, one in admin.site._registry.items():
        for name in offered(one):
            assert listed(mine, model, **{f"{name}__isnull": "False"}) == 200, (model, name)


def test_filters_and_columns_are_named_in_plain_words():
    for model, one in admin.site._registry.items():
        names = {str(label_for_field(name, model, one)) for name in (*offered(one), *one.list_display)}
        assert names.isdisjoint({"klass", "cell", "row", "via", "hasty", "is true", "shown", "declared"}), model


def test_a_secret_is_not_told_by_whether_a_list_is_empty(mine: Client, people: People):
    Authenticator.objects.create(user=people.silas, type="totp", data={"secret": "JBSWY3DPEHPK3PXP"})
    Channel.objects.create(workspace=people.workspace, name="ops", kind="webhook", address="https://in.example/t0p")
    assert listed(mine, Authenticator, type__exact="totp") == 200
    for model, asked in [
        (Authenticator, {"data__secret__startswith": "J"}),
        (Channel, {"address__startswith": "https://in.example/t"}),
        (Channel, {"workspace__head_digest__startswith": "x"}),
        (Membership, {"user__password__startswith": "x"}),
    ]:
        assert listed(mine, model, **asked) == 400, asked
