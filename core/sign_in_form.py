"""Name and password, with a limit on tries: for each name, and for each address that they come from."""

from typing import Any

from allauth.account.adapter import get_adapter
from django.contrib.auth.forms import AuthenticationForm

TOO_MANY = "too_many_login_attempts"


class SignInForm(AuthenticationForm):
    """Counts failures (``ACCOUNT_RATE_LIMITS``) in the database, so that all web processes count together."""

    def clean(self) -> dict[str, Any]:
        """Check the password, unless there were too many wrong ones a moment ago."""
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if name is not None and password:
            self.user_cache = get_adapter().authenticate(self.request, username=name, password=password)
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
        return self.cleaned_data

    @property
    def throttled(self) -> bool:
        """Whether the password was not even looked at."""
        return self.has_error("__all__", TOO_MANY)
