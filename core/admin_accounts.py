"""How people get in, in the console: factors, providers' accounts, sessions. Looked at and taken away, never made here.

What takes a way in from somebody is said in the administration streams of their workspaces.
"""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from core.console import PersonalAdmin, reach_of
from core.console_said import actor_of, person_changed

# Rights come from roles in a workspace; providers from the environment; their tokens are not kept.
for unused in (Group, SocialApp, SocialToken, EmailAddress):
    admin.site.unregister(unused)
for ours in (Authenticator, SocialAccount):
    admin.site.unregister(ours)


class WayInAdmin(PersonalAdmin):
    """A way in of one person."""

    what = ""

    def kind(self, obj: Any) -> str:
        """Return what is written down of it."""
        raise NotImplementedError

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Each person sets up their own."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """It is what it was made as."""
        return False

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Take it away, and say so."""
        user: User = obj.user
        with transaction.atomic():
            person_changed(
                user,
                what=f"{self.what} of {user.get_username()}",
                before=self.kind(obj),
                after=None,
                actor=actor_of(request),
                elsewhere=reach_of(request).workspaces,
            )
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Take several away, each said."""
        for one in queryset.select_related("user"):
            self.delete_model(request, one)


@admin.register(Authenticator)
class FactorAdmin(WayInAdmin):
    """Second factors; one that was lost is taken away here. Their secrets are not shown."""

    what = "second factor"
    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    search_fields = ("user__username",)
    list_select_related = ("user",)
    exclude = ("data",)

    def kind(self, obj: Authenticator) -> str:
        """See WayInAdmin."""
        return str(obj.type)


@admin.register(SocialAccount)
class ProviderAccountAdmin(WayInAdmin):
    """Accounts at the provider, and whose they are here."""

    what = "account at the provider"
    list_display = ("user", "provider", "uid", "date_joined", "last_login")
    list_filter = ("provider",)
    search_fields = ("user__username", "uid")
    list_select_related = ("user",)

    def kind(self, obj: SocialAccount) -> str:
        """See WayInAdmin."""
        return f"{obj.provider} {obj.uid}"
