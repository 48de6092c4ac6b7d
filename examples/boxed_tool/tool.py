"""Two tools that handle text from strangers: one reads it, one fetches it. Each call runs between walls.

Nothing had to be said for that: it is what a contract gets. What a call may use, reach and hold is said here, because
otherwise it is little memory, no network and no credential. The function stands at the top of its module, since the
sandbox loads it by module and name; ``packages=("my_parser",)`` adds what else it imports from your own folders, and
``mounts=("/srv/models",)`` what it reads. Installed libraries are there anyway.
"""

from html.parser import HTMLParser

from pydantic import BaseModel, Field

from tasks_app.contracts import Answer, CallContext, Limits, Refused, Unknown
from tasks_app.outside import http_client
from tasks_app.registry import tool

MIB = 1024 * 1024
SITE = "example.com"


class Page(BaseModel):
    """A page as it was found; anybody may have written it."""

    html: str = Field(max_length=1_000_000)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        """Keep the words."""
        self.words += data.split()


@tool(
    "page.words",
    arguments=Page,
    effect_class="none",
    timeout=5.0,  # past it the sandbox is ended from outside, whatever it does
    limits=Limits(memory=256 * MIB, cpu=2.0, output=MIB),
)
def page_words(page: Page, context: CallContext) -> Answer:
    """Count the words of a page. A parser that such a page takes over has nothing: no files, no network, no secrets."""
    parser = _Words()
    parser.feed(page.html)
    return Answer(result={"words": len(parser.words), "first": parser.words[:20]})


class Path(BaseModel):
    """Which page of the site."""

    path: str = Field(pattern=r"^/")


@tool(
    "page.fetch",
    arguments=Path,
    effect_class="none",
    timeout=10.0,
    network=(f"{SITE}:443",),  # nothing else is reached; a name that leads to a private address is refused
    credentials=("example-site",),  # `manage.py credential set example-site`; each call is granted it once
)
def page_fetch(wanted: Path, context: CallContext) -> Answer:
    """Fetch a page of the site, as the account whose token was granted to this one call."""
    headers = {"Authorization": f"Bearer {context.credential('example-site')}"}
    with http_client(context, base_url=f"https://{SITE}") as client:
        answer = client.get(wanted.path, headers=headers)
    if answer.status_code >= 500:
        raise Unknown(f"HTTP {answer.status_code}")
    if not answer.is_success:
        raise Refused(f"HTTP {answer.status_code}")
    return Answer(result={"html": answer.text[:100_000]})
