"""One spelling for one JSON value, and the digests that people approve and workers compare."""

import hashlib
import json
from typing import Any

import rfc8785

_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class NotCanonical(ValueError):
    """The value has no canonical JSON form; the normaliser or the argument check was left out."""


def canonical_bytes(value: object) -> bytes:
    """Return the RFC 8785 form of ``value`` as UTF-8.

    Raises:
        NotCanonical: NaN, an infinity, an integer beyond 2^53, a lone surrogate, a key that is no text, another type.
    """
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]  # it refuses other types itself
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise NotCanonical(str(error)) from error


def json_text(value: object) -> str:
    """Return compact JSON with the keys as they come; ids and enumerations as their text."""
    return _compact(value)


def json_bytes(value: object) -> bytes:
    """Return compact UTF-8 JSON with the keys as they come: what every size in bytes of a value means here."""
    return _compact(value).encode()


def json_equal(one: object, other: object) -> bool:
    """Tell whether two values are the same JSON value: 1 equals 1.0, true does not equal 1.

    Raises:
        NotCanonical: one of them has no canonical form.
    """
    return canonical_bytes(one) == canonical_bytes(other)


def schema_digest(schema: dict[str, Any]) -> str:
    """Return the SHA-256 (hex) of an arguments schema."""
    return hashlib.sha256(canonical_bytes(schema)).hexdigest()


def args_digest(*, tool: str, contract_version: int, schema_digest: str, arguments: object, seen: object = None) -> str:
    """Return the call digest (SHA-256, hex): what is approved is what is shown is what runs (S3, S9).

    Args:
        tool: name of the contract.
        contract_version: its version.
        schema_digest: digest of its arguments schema.
        arguments: the arguments after validation and defaults.
        seen: the version seen where the contract has a precondition, otherwise None.

    Raises:
        NotCanonical: arguments or the seen version have no canonical form.
    """
    bound = {
        "tool": tool,
        "contract_version": contract_version,
        "schema_digest": schema_digest,
        "arguments": arguments,
        "seen": seen,
    }
    return hashlib.sha256(canonical_bytes(bound)).hexdigest()
