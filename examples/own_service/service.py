"""The service: a guest book over HTTP, as somebody else may run it. ``python -m own_service.service FILE``.

``POST /guests`` writes a name down. With an ``Idempotency-Key`` that it knows, it gives its first answer again and says
so (``Idempotent-Replayed: true``). ``GET /guests`` lists. It prints its address when it listens.
"""

import json
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Guests(BaseHTTPRequestHandler):
    """One request."""

    file = ""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Write a name down, once a key."""
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers.get("Idempotency-Key")
        with sqlite3.connect(self.file, timeout=5) as book:
            known = book.execute("SELECT number, name FROM guest WHERE key = ?", [key]).fetchone()
            if known is None:
                made = book.execute("INSERT INTO guest (name, key) VALUES (?, ?)", [said["name"], key])
                known = (made.lastrowid, said["name"])
                self._answer(201, {"number": known[0], "name": known[1]})
                return
        self._answer(200, {"number": known[0], "name": known[1]}, replayed=True)

    def do_GET(self) -> None:
        """List everybody."""
        with sqlite3.connect(self.file, timeout=5) as book:
            rows = book.execute("SELECT number, name FROM guest ORDER BY number").fetchall()
        self._answer(200, {"guests": [{"number": number, "name": name} for number, name in rows]})

    def _answer(self, status: int, body: Any, *, replayed: bool = False) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        if replayed:
            self.send_header("Idempotent-Replayed", "true")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main(file: str) -> None:
    """Serve until somebody ends this process."""
    Guests.file = file
    with sqlite3.connect(file) as book:
        book.execute("CREATE TABLE IF NOT EXISTS guest (number INTEGER PRIMARY KEY, name TEXT, key TEXT UNIQUE)")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Guests)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
