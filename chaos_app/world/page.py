"""The page of the outside world: what really exists there, newest first, for a person to compare with."""

from typing import Any

from chaos_app.world.entries import ENTRIES, Entry
from chaos_app.world.markup import Markup, el, joined, moment

# (heading, what Handrail may rely on here, what "nothing yet" means)
SYSTEMS = {
    "tickets": ("Tickets", "Safe to resend: one ticket per key", "No ticket was opened."),
    "mail": ("Mailbox", "Can be looked up by Message-ID; keeps every copy", "No mail has arrived."),
    "config": ("Configuration", "Git: can be looked up by key, refuses what is out of date", "Nothing was changed."),
    "payments": ("Payments", "Cannot be checked by a program", "Nothing was paid."),
    "batch": ("Batch notices", "Safe to resend: each item has a key", "No notice was posted."),
    "jobs": ("Long jobs", "Safe to start again with the same key", "No job was started."),
    "files": ("Files", "Known by their digest", "No file was stored."),
    "stock": ("Stock", "Reading has no effect", "Nobody asked for stock."),
}
COLUMNS = (("tickets", "mail"), ("config", "payments", "batch", "jobs", "files", "stock"))
TIMES = {2: "twice", 3: "three times", 4: "four times"}


def page(state: dict[str, Any], *, live: int | None = None) -> str:
    """The whole document; with ``live`` it asks for itself again after so many seconds."""
    repeated = _repeated(state)
    title = f"({len(state['repetitions'])} repeated) The outside world" if state["repetitions"] else "The outside world"
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", http_equiv="refresh", content=str(live)) if live else None,
        el("title", title),
        el("link", rel="icon", href="/icon.svg", type="image/svg+xml"),
        el("link", rel="stylesheet", href="/page.css"),
    )
    columns = [el("div", *(_system(name, state, repeated) for name in names), class_="column") for names in COLUMNS]
    main = el("main", _verdict(state), el("div", *columns, class_="columns"), _arrivals(state["arrivals"]), id="main")
    skip = el("a", "Skip to the content", href="#main", class_="skip")
    return "<!doctype html>\n" + el("html", head, el("body", skip, _top(state, live), main), lang="en")


def _top(state: dict[str, Any], live: int | None) -> Markup:
    toggle = el("a", "Stop refreshing", href="/") if live else el("a", "Refresh every 2 s", href="/?live=1")
    as_of = ("As of ", moment(state["at"]), " UTC. ", toggle)
    counts = [
        el("li", el("a", el("b", str(state["counts"][name])), " ", heading, href=f"#{name}"))
        for name, (heading, *_) in SYSTEMS.items()
    ]
    return el(
        "header",
        el("div", el("h1", "The outside world"), el("p", *as_of), class_="title"),
        el("p", "What really exists out there, kept by a process of its own. Handrail only reaches it by using it."),
        el("nav", el("ul", *counts), aria_label="Systems"),
    )


def _verdict(state: dict[str, Any]) -> Markup:
    repetitions, disagreements = state["repetitions"], state["disagreements"]
    notes = [el("li", _sentence(group)) for group in repetitions]
    notes += [el("li", f"Ledger and storage differ: {text}") for text in disagreements]
    if not notes:
        tick = el("span", "✓", aria_hidden="true")
        return el("p", tick, " No effect happened more than once.", class_="verdict good")
    headline = " ".join(
        [f"{_number(len(repetitions), 'effect')} happened more than once."] * bool(repetitions)
        + [f"{_number(len(disagreements), 'disagreement')} between ledger and storage."] * bool(disagreements)
    )
    strong = el("strong", el("span", "✗", aria_hidden="true"), " ", headline)
    return el("section", strong, el("ul", *notes), class_="verdict bad", aria_label="What is wrong")


def _sentence(group: dict[str, Any]) -> Markup:
    by = "business key" if group["by"] == "business_key" else "key"
    links = [
        joined(" ", el("a", text if len(text) < 12 else f"no. {number}", href=f"#{group['system']}-{text}"))
        for number, text in enumerate(group["references"], start=1)
    ]
    what = f"{SYSTEMS[group['system']][0]}: {TIMES.get(group['count'], str(group['count']) + ' times')} for {by} "
    return joined(what, el("code", group["value"]), ":", *links)


def _repeated(state: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(group["system"], reference): group for group in state["repetitions"] for reference in group["references"]}


def _system(name: str, state: dict[str, Any], repeated: dict[tuple[str, str], dict[str, Any]]) -> Markup:
    heading, promise, empty = SYSTEMS[name]
    entries = [_entry(name, row, ENTRIES[name](row), repeated) for row in state[name]]
    body = el("ol", *entries) if entries else el("p", empty, class_="empty")
    top = el("div", el("h2", heading), el("p", promise), class_="heading")
    return el("section", top, body, id=name, class_="card")


def _entry(name: str, row: dict[str, Any], entry: Entry, repeated: dict[tuple[str, str], dict[str, Any]]) -> Markup:
    group = repeated.get((name, entry.reference))
    badges = [el("span", text, class_="badge") for text in entry.badges]
    badges += [el("span", "planted by a fault", class_="badge note")] if row.get("planted") else []
    badges += [el("span", "arrived late", class_="badge note")] if row.get("late") else []
    badges += [el("span", _duplicate(group), class_="badge bad")] if group else []
    when = moment(entry.at) if entry.at else None
    first = el("div", el("code", entry.label or entry.reference, class_="id"), *badges, when, class_="line")
    parts = [first, el("p", entry.title, class_="what"), entry.body, _marks(row)]
    return el("li", *parts, id=f"{name}-{entry.reference}", class_="entry repeated" if group else "entry")


def _duplicate(group: dict[str, Any]) -> str:
    times = TIMES.get(group["count"], f"{group['count']} times")
    return f"✗ happened {times} for {group['value']}"


def _marks(row: dict[str, Any]) -> Markup | None:
    named = (("key", row.get("key")), ("business key", row.get("business_key")), ("call", row.get("call")))
    marks = [joined(el("dt", name), el("dd", value)) for name, value in named if value]
    return el("dl", *marks, class_="marks") if marks else None


def _arrivals(arrivals: list[dict[str, Any]]) -> Markup:
    names = ("Time", "Asked", "Key", "Attempt", "Told to go wrong", "Answered", "Applied")
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in names)))
    table = el("table", head, el("tbody", *(_arrival(row) for row in arrivals)))
    body = el("div", table, class_="scroll", tabindex="0", role="region", aria_label="Arrivals, scrolls sideways")
    promise = f"The last {len(arrivals)} requests that meant to act, also those that came to nothing"
    top = el("div", el("h2", "Arrivals"), el("p", promise), class_="heading")
    empty = el("p", "Nobody has asked for anything.", class_="empty")
    return el("section", top, body if arrivals else empty, id="arrivals", class_="card")


def _arrival(row: dict[str, Any]) -> Markup:
    words = {"answered": str(row["status"]), "cut": "connection cut", None: "not yet"}
    answered = words.get(row["ended"], row["ended"])
    if row["replayed"]:
        applied: Markup | str = "earlier, answer repeated"
    else:
        applied = moment(row["applied_at"]) if row["applied_at"] else "no"
    cells = (moment(row["at"]), f"{row['system']} {row['operation']}", el("code", row["key"] or ""), row["attempt"])
    return el("tr", *(el("td", cell) for cell in (*cells, row["fault"], answered, applied)))


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
