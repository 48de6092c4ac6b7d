"""The rules of the record are data to data: they load without Django."""

import subprocess
import sys


def test_the_pure_modules_import_no_django() -> None:
    code = (
        "import sys\n"
        "import tasks_app.record.canonical, tasks_app.record.payload, tasks_app.record.prepare\n"
        "import tasks_app.record.verifier\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'django'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
