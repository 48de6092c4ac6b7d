"""The spellings under which a known secret value can stand inside other text."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

SHORTEST_INSIDE = 6  # characters; a shorter secret is masked only where it is the whole text
SHORTEST_BASE64 = 8


def spellings(secret: str) -> Iterator[str]:
    """Yield the secret as plain, URL-encoded, JSON-escaped, base64 and two-byte text."""
    yield secret
    yield quote(secret, safe="", errors="replace")
    yield quote_plus(secret, errors="replace")
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield "\0".join(secret)  # two-byte text read as one-byte text
    yield secret.encode(errors="surrogatepass").decode("latin-1")  # as the masker looks at binary content
    for content in _base64(secret.encode(errors="surrogatepass")):
        yield content
        yield content.replace("+", "-").replace("/", "_")


def _base64(content: bytes) -> Iterator[str]:
    """Yield what base64 makes of the content at each of the three alignments, without the characters it shares."""
    for lead in range(3):
        whole = base64.b64encode(b"\0" * lead + content).decode()
        first = (lead * 8 + 5) // 6
        last = (lead + len(content)) * 8 // 6
        if last - first >= SHORTEST_BASE64:
            yield whole[first:last]


class KnownSecrets:
    """Finds known secrets in text, in any spelling."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._whole = {secret for secret in secrets if secret}
        self._secret_of = {
            spelling: secret
            for secret in sorted(self._whole)
            if len(secret) >= SHORTEST_INSIDE
            for spelling in spellings(secret)
        }
        self._spellings = sorted(self._secret_of, key=len, reverse=True)
        self._escaped = [json.dumps(text, ensure_ascii=False)[1:-1] for text in (*self._spellings, *self._whole)]

    def may_be_in(self, json_text: str) -> bool:
        """Tell whether JSON text may hold one; True may be a false alarm, False never is."""
        return any(spelling in json_text for spelling in self._escaped)

    def equals(self, text: str) -> bool:
        """Tell whether the text is a known secret, however short."""
        return text in self._whole

    def find(self, text: str) -> list[tuple[str, str]]:
        """Return (spelling, secret) for each spelling that stands in the text, the longest first."""
        return [(spelling, self._secret_of[spelling]) for spelling in self._spellings if spelling in text]

    @staticmethod
    def pattern(found: list[tuple[str, str]], mark: re.Pattern[str]) -> re.Pattern[str]:
        """Return a pattern that matches what was found, and marks, so that nothing inside a mark is replaced."""
        return re.compile("|".join([mark.pattern, *(re.escape(spelling) for spelling, _ in found)]))
