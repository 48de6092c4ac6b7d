"""Where the worker that takes over dies as well. Pure."""

from collections.abc import Mapping

from chaos_app.drills.names import Klass

# (first place, second place) by class
SECOND: Mapping[Klass, tuple[tuple[tuple[str, str], tuple[str, str]], ...]] = {
    Klass.KEYED: (
        (("E04", "applied"), ("L03", "after")),
        (("E04", "applied"), ("E02", "before_send")),
        (("E04", "applied"), ("E05", "before")),
        (("E04", "applied"), ("E08", "after")),
    ),
    Klass.READABLE: (
        (("E04", "applied"), ("L03", "after")),
        (("E04", "applied"), ("E09", "before")),
        (("E02", "before_send"), ("E02", "before_send")),
        (("E04", "applied"), ("E08", "after")),
    ),
    Klass.PRECONDITION: (
        (("E04", "applied"), ("E09", "before")),
        (("E02", "before_send"), ("E02", "before_send")),
    ),
    Klass.OPAQUE: ((("E04", "applied"), ("L03", "after")), (("E04", "applied"), ("E09", "before"))),
}
