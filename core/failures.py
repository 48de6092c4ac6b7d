"""What pages say about failures: what happened, what still holds, what to do. One entry for each HTTP status."""

from dataclasses import dataclass

_RUNNING = "Tasks that are running go on; nothing that was recorded is lost."
_UNCHANGED = "Nothing was changed."


@dataclass(frozen=True)
class Failure:
    """What a page says about a failure: one sentence each."""

    title: str
    happened: str
    holds: str
    todo: str


FAILURES = {
    400: Failure(
        "This request could not be read",
        "The address or the form that arrived is malformed.",
        _UNCHANGED,
        "Go back, reload the page and try again.",
    ),
    401: Failure(
        "You are not signed in",
        "This page is only for people who are signed in.",
        _UNCHANGED,
        "Sign in and try again.",
    ),
    403: Failure(
        "You may not do this",
        "Your account does not have the right that this page or action needs.",
        _UNCHANGED,
        "Ask the administrator of your workspace for the right, or sign in as somebody who has it.",
    ),
    404: Failure(
        "There is nothing at this address",
        "The address is wrong, or what was here belongs to a workspace that you cannot see.",
        _UNCHANGED,
        "Check the address, or start from the list of tasks.",
    ),
    409: Failure(
        "Somebody or something was faster",
        "What you acted on has changed since your page was made, so your action was not carried out.",
        "The earlier change stands; nothing happened twice.",
        "Go back, reload the page and look at the present state before you decide again.",
    ),
    413: Failure(
        "This is too large",
        "What was sent is larger than Handrail takes.",
        _UNCHANGED,
        "Send less, or send it in parts.",
    ),
    422: Failure(
        "This does not fit",
        "What was sent does not have the form that is needed here.",
        _UNCHANGED,
        "Go back, correct it and send it again.",
    ),
    429: Failure(
        "This is too often",
        "More was sent in a short time than is taken.",
        _UNCHANGED,
        "Wait a minute, then try again.",
    ),
    500: Failure(
        "This page failed",
        "An error in Handrail kept this page from being made.",
        _RUNNING,
        "Try again; if it fails again, give the reference to whoever runs Handrail.",
    ),
    503: Failure(
        "A part of Handrail is away",
        "A service that this page needs does not answer.",
        _RUNNING,
        "Wait a few seconds and try again.",
    ),
}
DATABASE = Failure(
    "The database is away",
    "The database does not answer, so this page cannot be shown.",
    "Nothing that was recorded is lost, and tasks continue by themselves when the database is back.",
    "Wait a few seconds and try again.",
)
CSRF = Failure(
    "The form has expired",
    "The form was sent without the mark that proves that it came from your own page; most often it was open too long.",
    _UNCHANGED,
    "Go back, reload the page and send the form again. Cookies must be allowed for this site.",
)
