"""Digests that tie an approval to what it is for."""

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import rfc8785
from pydantic import BaseModel


@cache
def schema_digest(arguments: type[BaseModel]) -> str:
    """Return the digest of an arguments' schema: a changed schema under the same version is a changed tool."""
    return _digest(arguments.model_json_schema())


def same_call_digest(*, tool: str, arguments: Mapping[str, Any]) -> str:
    """Return the digest of tool and canonical arguments (rule 9): version, seen state and name left out."""
    return _digest({"tool": tool, "arguments": dict(arguments)})


def _digest(value: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()
