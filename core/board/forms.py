"""What people narrow the board's lists to; all of it is in the address. Times are UTC."""

from django import forms

from core.board.effects import KINDS
from core.moment_field import Moment


class EffectForm(forms.Form):
    """Filters of effects."""

    reference = forms.CharField(required=False, max_length=300)
    resource = forms.CharField(required=False, max_length=300)
    tool = forms.CharField(required=False, max_length=120)
    person = forms.CharField(required=False, max_length=150)
    kind = forms.ChoiceField(required=False, choices=[("", ""), *((name, said) for name, (said, _) in KINDS.items())])
    since = Moment()
    until = Moment()


class TrailForm(forms.Form):
    """Filters of the audit."""

    person = forms.CharField(required=False, max_length=150)
    kind = forms.CharField(required=False, max_length=40)
    since = Moment()
    until = Moment()


class RevokeForm(forms.Form):
    """Which credential is revoked, and why."""

    name = forms.CharField(max_length=120)
    reason = forms.CharField(max_length=500)


class DrainForm(forms.Form):
    """Which worker is drained, and why."""

    worker = forms.UUIDField()
    reason = forms.CharField(max_length=500)
