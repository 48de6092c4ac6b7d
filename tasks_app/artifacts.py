"""Files that one call leaves for another: values of the record, named by their content. Standard library only.

A tool returns an artifact in its answer; the agent passes it on as an argument of a later call; that call takes the
content out again. Sandboxes share no folder, so this is the only way, and the record keeps the content once, however
often it is passed on, as it does with everything that is large.
"""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

BYTES = "application/octet-stream"


class ArtifactChanged(ValueError):
    """The content is not the one that the artifact names: something on its way has changed or masked it."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"the content of the artifact {name!r} does not have its digest")


def artifact_keep(content: bytes, *, name: str, media_type: str = BYTES) -> dict[str, Any]:
    """Return the artifact of some content, to be part of an answer. A call's arguments take 4 MiB in all."""
    return {
        "artifact": name,
        "media_type": media_type,
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
        "base64": base64.b64encode(content).decode(),
    }


def artifact_content(artifact: Mapping[str, Any]) -> bytes:
    """Return the content, checked against its digest. Raises ArtifactChanged, or KeyError for what is no artifact."""
    try:
        content = base64.b64decode(artifact["base64"], validate=True)
    except ValueError as error:
        raise ArtifactChanged(str(artifact["artifact"])) from error
    if hashlib.sha256(content).hexdigest() != artifact["sha256"]:
        raise ArtifactChanged(str(artifact["artifact"]))
    return content
