"""``manage.py contract prove TOOL``: whether a tool keeps what it declares."""

import importlib
import json
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error

from chaos_app.models import ToolProof
from chaos_app.proving.prove import Ledger, Proof, lines, prove
from core.clock import database_now
from tasks_app import registry
from tasks_app.contracts import Contract


class Command(BaseCommand):
    """Tries tools on their targets."""

    help = "Tries a tool on its target: one key twice, equal arguments, a cut in between, a look-up without effect."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the verb and its options."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        one = verbs.add_parser("prove", help="Try one tool.")
        one.add_argument("tool")
        one.add_argument("--arguments", required=True, help='JSON; "{n}" in a text becomes another number each time')
        one.add_argument("--ledger", required=True, help="function of the target, as package.module:ledger")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prove; exit 0 where the declared class is true, 1 where it is not."""
        registry.modules_load()
        contract = registry.tool_newest(options["tool"])
        if contract is None:
            known = ", ".join(one.name for one in registry.tools()) or "none; set HANDRAIL_MODULES"
            raise CommandError(f"There is no tool {options['tool']!r}; known: {known}.")
        proof = prove(contract, arguments=_arguments(contract, options["arguments"]), ledger=_ledger(options["ledger"]))
        for line in lines(proof):
            self.stdout.write(line)
        self._keep(proof)
        raise SystemExit(0 if proof.is_true else 1)

    def _keep(self, proof: Proof) -> None:
        try:
            proof_store(proof)
        except Error as error:
            self.stderr.write(f"The proof was not kept for the tool's page: {type(error).__name__}.")


def proof_store(proof: Proof) -> ToolProof:
    """Keep the newest proof of a version of a tool."""
    trials = [{"name": trial.name, "holds": trial.holds, "saw": trial.saw} for trial in proof.trials]
    made = {"declared": proof.declared, "shown": proof.shown, "is_true": proof.is_true, "trials": trials}
    kept, _ = ToolProof.objects.update_or_create(
        tool=proof.tool, version=proof.version, defaults=made | {"at": database_now()}
    )
    return kept


def _arguments(contract: Contract, text: str) -> Callable[[], Any]:
    try:
        given = json.loads(text)
        contract.arguments.model_validate(given)
    except ValueError as error:
        raise CommandError(f"--arguments does not fit {contract.name}: {error}") from error
    count = iter(range(1, 1_000_000))

    def fresh() -> Any:
        number = str(next(count))
        filled = {k: v.replace("{n}", number) if isinstance(v, str) else v for k, v in given.items()}
        return contract.arguments.model_validate(filled)

    return fresh


def _ledger(path: str) -> Ledger:
    module, _, name = path.partition(":")
    try:
        found: Ledger = getattr(importlib.import_module(module), name or "ledger")
    except (ImportError, AttributeError, ValueError) as error:
        raise CommandError(f"--ledger {path!r} cannot be found: {error}.") from error
    return found
