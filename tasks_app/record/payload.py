"""Placeholder until the payload rule lands."""

from dataclasses import dataclass
from typing import Any


@dataclass
class BlobPart:
    """A large value stored apart."""

    sha256: str
    size: int
    media_type: str
    content: bytes


def split_large(data: dict[str, Any]) -> tuple[dict[str, Any], list[BlobPart]]:
    """Keep everything inline."""
    return data, []
