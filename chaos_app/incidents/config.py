"""Configuration: a *readable* tool with a precondition. Its commits carry our key as a trailer and can be found by it.

A change is accepted only on the version that was seen (``If-Match``). That version is an argument, so that it is what
the agent has read, what people approve, and what the provider compares: the same in all three places.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from chaos_app.incidents.outside import LAG, TIMEOUT, post, read
from chaos_app.incidents.walls import WEB, look_at, reaching
from tasks_app.contracts import Absent, Answer, CallContext, EffectClass, Found, LookUp, Observed
from tasks_app.criteria import Observation, check
from tasks_app.registry import tool

Value = int | float | bool | str
SUBJECT = re.compile(r"(?P<setting>\S+): (?P<was>.+) -> (?P<value>.+)")


class Service(BaseModel):
    """A service by its name."""

    service: str


class Change(BaseModel):
    """One setting of one service: from what to what, and on which version that was read."""

    service: str
    setting: str = Field(description="by dotted name, for example database.pool_size")
    was: Value
    value: Value
    based_on: str = Field(description="the version that the agent has read")


def setting_of(values: Mapping[str, Any], setting: str) -> Any:
    """Return one setting by its dotted name. Raises KeyError."""
    found: Any = values
    for part in setting.split("."):
        found = found[part]
    return found


@tool(
    "config.read",
    arguments=Service,
    effect_class=EffectClass.NONE,
    timeout=TIMEOUT,
    resource="config/{service}",
    **reaching(WEB),
)
def config_read(wanted: Service, context: CallContext) -> Answer:
    """Read a service's configuration and its version."""
    found = read(f"/config/{wanted.service}")
    return Answer(result={"version": found["version"], "values": found["values"]}, reference=found["version"])


def change_find(key: str) -> LookUp:
    """Look for a commit whose trailer is the key."""
    commits = read("/config/log", key=key)["commits"]
    if not commits:
        return Absent()
    first = commits[-1]
    result = {"version": first["version"], "key": key}
    return Found(reference=first["version"], arguments=_arguments(first), result=result)


def _arguments(commit: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a commit of ours says about itself; another subject than ours fits no call."""
    said = SUBJECT.fullmatch(commit["subject"])
    if said is None:
        return {"service": commit["service"], "setting": None}
    values = {name: json.loads(said[name]) for name in ("was", "value")}
    return {"service": commit["service"], "setting": said["setting"], **values}


def change_verify(wanted: Change, answer: Answer) -> Observed:
    """Read the log for our key: exactly one commit, of this service, that says what was intended."""
    commits = read("/config/log", key=answer.result["key"])["commits"]
    intended = wanted.model_dump(exclude={"based_on"})
    right = [commit["version"] for commit in commits if _arguments(commit) == intended]
    seen = {"commits": [commit["subject"] for commit in commits]}
    matches = len(commits) == 1 and right == [answer.result["version"]]
    return Observed(matches=matches, seen=seen, reference=answer.result["version"])


def change_preview(wanted: Change) -> str:
    """Say what will happen."""
    return f"{wanted.service}: {wanted.setting} from {wanted.was} to {wanted.value}"


@tool(
    "config.change",
    arguments=Change,
    effect_class=EffectClass.READABLE,
    timeout=TIMEOUT,
    lag=LAG,
    asks=True,
    risk="high",
    precondition=True,
    reversible=True,  # by another change
    editable=frozenset({"value"}),
    seen=lambda wanted: wanted.based_on,
    once_per="{id}:{setting}",
    resource="config/{service}",
    find=change_find,
    verify=change_verify,
    preview=change_preview,
    how_to_check="Read the git log of the configuration for a commit about this setting that carries the call's key."
    + look_at("config"),
    **reaching(WEB),
)
def config_change(wanted: Change, context: CallContext) -> Answer:
    """Commit one changed setting, if the service is still at the version that was seen; otherwise nothing happens."""
    subject = f"{wanted.setting}: {json.dumps(wanted.was)} -> {json.dumps(wanted.value)}"
    body = {"set": {wanted.setting: wanted.value}, "summary": subject}
    done = post(context, f"/config/{wanted.service}", body, **{"If-Match": f'"{context.seen}"'})
    return Answer(result={"version": done["version"], "key": context.key}, reference=done["version"])


@check("config.is")
def config_is(*, service: str, setting: str, value: Value) -> Observation:
    """Hold where the setting has that value now."""
    seen = setting_of(read(f"/config/{service}")["values"], setting)
    return Observation(holds=seen == value, expected=value, seen=seen)


@check("config.within")
def config_within(*, service: str, tolerances: Mapping[str, Mapping[str, Any]]) -> Observation:
    """Hold where each of these settings is between its bounds now."""
    values = read(f"/config/{service}")["values"]
    seen = {setting: setting_of(values, setting) for setting in tolerances}
    inside = all(bound["min"] <= seen[setting] <= bound["max"] for setting, bound in tolerances.items())
    return Observation(holds=inside, expected=dict(tolerances), seen=seen)
