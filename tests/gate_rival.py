"""One of many processes of an agent outside: ``python gate_rival.py URL TOKEN KEY LEDGER``; says what came of it."""

import os
import sys
from pathlib import Path

from handrail_gate import Gate, GateError, current


def main(url: str, token: str, key: str, ledger: str) -> str:
    gate = Gate(url, token)

    @gate.approved(tool="gate.note", key=lambda arguments: key, wait=90)
    def note(text: str, room: str = "hall") -> str:
        with Path(ledger).open("a") as file:  # the outside: one line an effect
            file.write(f"{current().key} {os.getpid()} {text}\n")
        return "noted"

    print("asking", flush=True)
    try:
        return str(note(text="hello"))
    except GateError as error:
        return type(error).__name__


if __name__ == "__main__":
    print(main(*sys.argv[1:5]), flush=True)
