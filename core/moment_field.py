"""A form field for a moment to the minute, in UTC."""

from datetime import UTC, datetime
from typing import Any

from django import forms


class Moment(forms.DateTimeField):
    """A moment to the minute, as browsers write it."""

    def __init__(self, **more: Any) -> None:
        widget = forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"})
        formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"]
        super().__init__(required=False, widget=widget, input_formats=formats, **more)

    def to_python(self, value: Any) -> datetime | None:
        """Return the moment in UTC. Raises ValidationError also for one that UTC has no name for."""
        moment: datetime | None = super().to_python(value)
        try:
            return moment and moment.astimezone(UTC)
        except OverflowError:
            raise forms.ValidationError("In UTC this is before the year 1 or after the year 9999.") from None
