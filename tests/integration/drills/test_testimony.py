"""What a case has left is read although a case beside it has just killed the database."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from chaos_app.drills.testimony import read_patiently
from core.embedded.services import embedded


def test_evidence_is_read_as_soon_as_a_killed_database_is_back_and_not_for_ever(tmp_path: Path) -> None:
    with embedded(tmp_path) as services, ThreadPoolExecutor(1) as reader:
        postgres = services.postgres

        def read() -> int:
            with psycopg.connect(postgres.superuser_url) as superuser:
                row = superuser.execute("SELECT 7").fetchone()
            return int(row[0]) if row else 0

        postgres.kill()
        with pytest.raises(psycopg.OperationalError):
            read_patiently(read, seconds=0.3)
        found = reader.submit(read_patiently, read)
        time.sleep(0.3)
        assert not found.done()
        postgres.start()
        assert found.result() == 7
