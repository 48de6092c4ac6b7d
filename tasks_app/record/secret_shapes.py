"""What a secret looks like: the names of fields that hold one, and the shapes of well-known ones."""

import re
from dataclasses import dataclass
from functools import lru_cache

_ENDINGS = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token", "authorization"),
    *("apikey", "accesskey", "accesskeyid", "secretkey", "privatekey", "signingkey", "encryptionkey", "sharedkey"),
    *("sessionkey", "sessionid", "cookie", "cookies", "credential", "credentials", "connectionstring"),
)
_LONGEST_NAME = 100  # characters; longer keys are data, not names


def is_secret_name(name: str) -> bool:
    """Tell whether a field of this name holds a secret: ``api_key``, ``X-Api-Key``, ``token2``, but not ``tokens``."""
    return len(name) <= _LONGEST_NAME and _is_secret_name(name)


@lru_cache(maxsize=4096)
def _is_secret_name(name: str) -> bool:
    compact = re.sub(r"[^a-z0-9]", "", name.lower()).rstrip("0123456789")
    return compact.endswith(_ENDINGS)


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern whose group ``secret`` is masked; tried only on lower-cased text that holds ``sign`` and a hint.

    Patterns start at a boundary and have no nested repetition, so that their time grows with the text and no faster.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    sign: str = ""  # a character that is quickly seen to be absent


def _shape(kind: str, hints: str, pattern: str, flags: int = 0, sign: str = "") -> Shape:
    return Shape(kind, tuple(hints.split()), re.compile(pattern, flags | re.ASCII), sign)


_START = r"(?<![A-Za-z0-9_-])"

SHAPES = (
    _shape(
        "pem",
        "-----begin",
        r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|.*))",
        re.DOTALL,
    ),
    _shape("aws", "akia asia", _START + r"(?P<secret>A(?:KIA|SIA)[A-Z0-9]{16})(?![A-Z0-9])"),
    _shape(
        "github",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        _START + r"(?P<secret>gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    ),
    _shape("gitlab", "glpat-", _START + r"(?P<secret>glpat-[A-Za-z0-9_-]{20,})"),
    _shape("slack", "xox xapp-", _START + r"(?P<secret>xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})"),
    _shape(
        "stripe",
        "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
        _START + r"(?P<secret>[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[\w+/=]{16,})",
    ),
    _shape("model-key", "sk-proj- sk-ant- sk-or-", _START + r"(?P<secret>sk-(?:proj|ant|or)-[\w-]{16,})"),
    _shape("google", "aiza", _START + r"(?P<secret>AIza[\w-]{35})"),
    _shape("npm", "npm_", _START + r"(?P<secret>npm_[A-Za-z0-9]{36})"),
    _shape("jwt", "eyj", _START + r"(?P<secret>eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"),
    _shape("bearer", "bearer", r"(?i:\bbearer)\s{1,9}(?P<secret>(?=[A-Za-z._~+/-]{0,256}[0-9=])[\w.~+/=-]{12,})"),
    _shape(
        "header",
        "authorization",
        r"(?i:\bauthorization[\"']?\s{0,9}[:=]\s{0,9}[\"']?(?:basic|digest|token|negotiate|apikey))"
        r"\s{1,9}(?P<secret>[\w.~+/=-]{8,})",
    ),
    _shape("header", "cookie:", r"(?i:\bcookie:)[ \t]{0,9}(?P<secret>[^\s=;]{1,64}=[^\r\n]{6,})"),
    _shape("url", "://", r"://[^\s/:@?#]{0,256}:(?P<secret>[^\s/@]{1,1024})@", sign="@"),
)

NAMED = (  # JSON inside text, and name=value as in queries and connection strings; both ask is_secret_name
    _shape("field", '":', r'"(?P<name>[\w.-]{1,64})":\s{0,9}"(?P<secret>[^"\\]*+(?:\\.[^"\\]*+)*+)"'),
    _shape(
        "field",
        "password= passwd= passphrase= pwd= secret= token= key= sessionid= session_id= cookie= credential=",
        r"(?<![\w.-])(?P<name>[\w.-]{1,64})=(?P<secret>(?![$<{%\[])[^\s&;,\"'<>\\]{6,})",
        sign="=",
    ),
)
