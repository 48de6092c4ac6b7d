"""The receiver did not take a message."""


class NotTaken(Exception):
    """The text says why, without addresses or secrets. ``final``: trying again is vain."""

    def __init__(self, why: str, *, final: bool = False) -> None:
        super().__init__(why)
        self.final = final
