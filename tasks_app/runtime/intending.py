"""From a decided call to what is fixed about it: contract, arguments, digest, key, business key, seen version."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ValidationError

from tasks_app import registry
from tasks_app.call_names import NAME_LENGTH, name_refusal
from tasks_app.contracts import Contract
from tasks_app.decisions import Call as CallDecision
from tasks_app.external import external_contract
from tasks_app.gate import Assessment, gate
from tasks_app.models import Call, Task
from tasks_app.record.append import CallChange, Seq
from tasks_app.record.canonical import args_digest, schema_digest
from tasks_app.record.events import CallIntended
from tasks_app.record.prepare import check_arguments
from tasks_app.record.stored import masker
from tasks_app.runtime.acting import seen_act
from tasks_app.runtime.granting import looking
from tasks_app.sandbox.levels import refusal_of
from tasks_app.sandbox.spec import Wanted
from tasks_app.status import EXTERNAL_VERSION, CallState, EffectClass


class CannotIntend(Exception):
    """The call cannot be carried out as decided; the agent reads why."""

    def __init__(self, code: str, reason: str, *, name: str, **more: Any) -> None:
        self.refusal = {"code": code, "call": name, "reason": reason, **more}
        super().__init__(reason)


@dataclass(slots=True, kw_only=True)
class Intended:
    """A call that is fixed: its event, its contract, its validated arguments, and what the gate said."""

    event: CallIntended
    contract: Contract
    arguments: Any  # the pydantic model
    assessment: Assessment
    note: str = ""  # the agent's own words, for whoever is asked

    @property
    def needs_attempt(self) -> bool:
        """Whether acting must be recorded first: every class but ``none``."""
        return self.contract.effect_class != EffectClass.NONE

    def with_policy(self) -> CallIntended:
        """Return the event with the gate's word, so that a resume knows whether the call runs under an approval."""
        return replace(self.event, policy={**self.assessment.policy, "outcome": self.assessment.outcome})

    def change(self, task: Task, *, seq: Seq, state: CallState) -> CallChange:
        """Return the new ``call`` row."""
        event = self.event
        return CallChange(
            name=event.name,
            new=True,
            set={
                "task_id": str(task.pk),
                "workspace_id": str(task.workspace_id),
                "step": event.step,
                "ordinal": event.ordinal,
                "tool": event.tool,
                "contract_version": event.contract_version,
                "effect_class": event.effect_class,
                "digest": event.digest,
                "key": event.key,
                "business_key": event.business_key,
                "holds_business_key": event.business_key is not None,
                "state": state,
                "attempts": 0,
                "maybe_applied": False,
                "look_first": False,
                "look_ups": 0,
                "reference": "",
                "resource": event.resource or "",
                "handle": "",
                "replaced_by": "",
                "intended_seq": seq,
            },
        )


def call_key(task: UUID, step: int, ordinal: int) -> str:
    """Return a call's idempotency key: from task, step and ordinal alone, so that every attempt carries it (S9)."""
    return f"hr-{task.hex}-{step}-{ordinal}"


def call_intend(
    decided: CallDecision,
    *,
    task: Task,
    step: int,
    ordinal: int,
    names: Mapping[str, str],
    replaces: str | None = None,
) -> Intended:
    """Fix a decided call. ``names``: the names in use, with their state. Raises ``CannotIntend``.

    ``replaces``: the call of this task whose place it takes; that one gives its business key back.

    Reads the outside world at most once, for the seen version of a precondition (no effect).
    """
    contract = registry.tool_newest(decided.tool)
    if contract is None:
        known = ", ".join(tool.name for tool in registry.tools()) or "none"
        raise CannotIntend("unknown-tool", f"No tool {decided.tool!r} here. Known: {known}.", name=decided.name)
    if task.agent_version == EXTERNAL_VERSION:
        contract = external_contract(contract)
    unfit = name_refusal(decided.name)
    if unfit:
        raise CannotIntend("bad-name", unfit, name=str(decided.name)[:NAME_LENGTH])
    if decided.name in names:
        raise CannotIntend(
            "name-used",
            f"The name {decided.name!r} stands for an effect already ({names[decided.name]}); a name is used once.",
            name=decided.name,
        )
    missing = refusal_of(Wanted(contract.sandbox))
    if missing:
        raise CannotIntend("sandbox-missing", missing, name=decided.name)
    model = _arguments(contract, decided)
    arguments = _written(decided, model)
    _refuse_unfit(contract, decided, arguments)
    business_key = _business_key(contract, task, arguments)
    if business_key:
        _refuse_held(task, decided, business_key, replaces)
    seen = _seen(contract, task, decided, model)
    schema = _schema_digest(contract.arguments)
    event = CallIntended(
        name=decided.name,
        step=step,
        ordinal=ordinal,
        tool=contract.name,
        contract_version=contract.version,
        schema_digest=schema,
        effect_class=contract.effect_class,
        arguments=arguments,
        digest=args_digest(
            tool=contract.name,
            contract_version=contract.version,
            schema_digest=schema,
            arguments=arguments,
            seen=seen,
        ),
        key=call_key(task.pk, step, ordinal),
        seen=seen,
        business_key=business_key,
        resource=_filled(contract.resource, task, arguments)[:300] if contract.resource else None,
        replaces=replaces,
    )
    assessment = gate().assess(task=task, contract=contract, arguments=arguments)
    return Intended(event=event, contract=contract, arguments=model, assessment=assessment, note=decided.note)


@cache
def _schema_digest(arguments: type[BaseModel]) -> str:
    return schema_digest(arguments.model_json_schema())


def _arguments(contract: Contract, decided: CallDecision) -> Any:
    try:
        return contract.arguments.model_validate(dict(decided.arguments))
    except ValidationError as error:
        fields = [{"field": ".".join(map(str, e["loc"])), "reason": e["msg"]} for e in error.errors()]
        raise CannotIntend(
            "bad-arguments",
            f"The arguments do not fit the schema of {contract.name}.",
            name=decided.name,
            fields=fields,
        ) from error


def _written(decided: CallDecision, model: BaseModel) -> dict[str, Any]:
    try:
        written: dict[str, Any] = model.model_dump(mode="json")
        return written
    except ValueError as error:  # what a schema leaves open may be too deep, or nothing that JSON has
        raise CannotIntend(
            "unfit-arguments", f"The arguments cannot be written as JSON: {error}"[:500], name=decided.name
        ) from error


def _refuse_unfit(contract: Contract, decided: CallDecision, arguments: Mapping[str, Any]) -> None:
    """Call arguments are never altered: what masker or normaliser would change is refused, with the field named."""
    problems = check_arguments(arguments, masker=masker(), exempt=contract.exempt)
    if problems:
        raise CannotIntend(
            "unfit-arguments",
            "Arguments are stored and run exactly as they are, and these cannot be: pass secrets as references.",
            name=decided.name,
            fields=[{"field": problem.field, "reason": problem.reason} for problem in problems],
        )


def _business_key(contract: Contract, task: Task, arguments: Mapping[str, Any]) -> str | None:
    if contract.once_per is None:
        return None
    return f"{contract.name}:{_filled(contract.once_per, task, arguments)}"[:300]


class _Fields(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def _filled(template: str, task: Task, arguments: Mapping[str, Any]) -> str:
    """Fill ``{field}`` from the arguments, else from the task's intent, else ``{task}``."""
    return template.format_map(_Fields({"task": str(task.pk), **(task.intent or {}), **arguments}))


def _refuse_held(task: Task, decided: CallDecision, business_key: str, replaces: str | None) -> None:
    held = Call.objects.filter(workspace_id=task.workspace_id, business_key=business_key, holds_business_key=True)
    first = held.exclude(task=task, name=replaces or "").order_by("id").first()
    if first is not None:
        raise CannotIntend(
            "business-key-held",
            f"The same act exists already: call {first.name!r} of task {first.task_id} ({first.state})."
            " It is done again only if a person allows it there.",
            name=decided.name,
            first={"task": str(first.task_id), "call": first.name, "state": first.state},
        )


def _seen(contract: Contract, task: Task, decided: CallDecision, model: Any) -> str | None:
    if not contract.precondition or contract.seen is None:
        return None
    try:
        with looking(workspace=task.workspace_id, task=task.pk, call=decided.name):
            return seen_act(contract, model)
    except Exception as error:
        raise CannotIntend(
            "state-unseen",
            f"The state that the precondition compares could not be read: {type(error).__name__}: {error}"[:500],
            name=decided.name,
        ) from error
