"""A changed export is found out, wherever it was changed, with nothing but Python."""

import base64
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks_app.record import verifier
from tasks_app.record.payload import split_large
from tasks_app.record.verifier import START, Report, chain, verify

STREAM = "01936d8e-0000-7000-8000-000000000001"
SCRIPT = Path(verifier.__file__)
type Lines = list[dict]


def export(events: int = 6, *, kind: str = "task") -> Lines:
    """Build an export as the server writes it: six events, the third with a blob."""
    lines: Lines = [{}]
    digest, blobs = START, []
    for seq in range(1, events + 1):
        data, parts = split_large({"step": seq, "text": "t\u3042" * (5_000 if seq == 3 else 5)})
        blobs += parts
        body = {"seq": seq, "data": data, "kind": "step.decided", "actor": "worker:a", "epoch": 1, "stream": STREAM}
        text = json.dumps(body, ensure_ascii=False)
        at_us = 1_790_000_000_000_000 + seq
        digest = chain(digest, text, at_us)
        lines.append({"seq": seq, "body": text, "at_us": at_us, "digest": digest.hex()})
    lines[0] = {
        "format": "handrail-record/1",
        "stream": STREAM,
        "kind": kind,
        "head_seq": events,
        "head_digest": digest.hex(),
        "exported_at": "2026-11-20T09:00:00Z",
    }
    return lines + [
        {
            "blob": part.sha256,
            "size": part.size,
            "media_type": part.media_type,
            "base64": base64.b64encode(part.content).decode(),
        }
        for part in blobs
    ]


def judged(lines: Lines, **kwargs: str) -> Report:
    return verify((json.dumps(line) for line in lines), **kwargs)


def rechained(lines: Lines) -> Lines:
    """Give every event the digest that fits, as a forger would who cannot change the header."""
    digest = START
    for line in lines:
        if "body" in line:
            digest = chain(digest, line["body"], line["at_us"])
            line["digest"] = digest.hex()
    return lines


def test_an_unchanged_export_is_whole() -> None:
    report = judged(export())
    assert report.problems == []
    assert report.notes == []
    assert (report.stream, report.events, report.blobs) == (STREAM, 6, 1)
    assert judged(export(0, kind="administration")).ok


def test_the_rule_is_the_one_that_is_written_down() -> None:
    content = hashlib.sha256(b'{"a": 1}').digest()
    assert chain(START, '{"a": 1}', 258) == hashlib.sha256(bytes(32) + content + bytes(6) + b"\x01\x02").digest()


def edit_body(lines: Lines) -> None:
    lines[2]["body"] = lines[2]["body"].replace('"step": 2', '"step": 7')


def edit_time(lines: Lines) -> None:
    lines[2]["at_us"] += 1


def edit_digest(lines: Lines) -> None:
    lines[2]["digest"] = "0" * 64


def drop(lines: Lines) -> None:
    del lines[2]


def swap(lines: Lines) -> None:
    lines[2], lines[3] = lines[3], lines[2]


def insert(lines: Lines) -> None:
    lines.insert(3, dict(lines[2]))


def insert_renumbered(lines: Lines) -> None:
    lines.insert(3, dict(lines[2]))
    for seq, line in enumerate(lines[1:8], start=1):
        line["seq"] = seq
    rechained(lines)


def truncate(lines: Lines) -> None:
    del lines[6]


def edit_and_rechain(lines: Lines) -> None:
    edit_body(lines)
    rechained(lines)


def another_stream(lines: Lines) -> None:
    lines[0]["stream"] = STREAM.replace("1", "2")


def edit_blob(lines: Lines) -> None:
    lines[-1]["base64"] = base64.b64encode(b"other").decode()


def drop_blob(lines: Lines) -> None:
    del lines[-1]


def edit_blob_size(lines: Lines) -> None:
    lines[-1]["size"] += 1


def broken_base64(lines: Lines) -> None:
    lines[-1]["base64"] = "?"


def header_gone(lines: Lines) -> None:
    del lines[0]


def incomplete(lines: Lines) -> None:
    del lines[4]["at_us"]


def unknown_line(lines: Lines) -> None:
    lines.append({"what": "is this"})


CHANGES: list[tuple[Callable[[Lines], None], str]] = [
    (edit_body, "Event 2 does not have the digest of its body, its time and the event before it."),
    (edit_time, "Event 2 does not have the digest of its body, its time and the event before it."),
    (edit_digest, "Event 2 does not have the digest of its body, its time and the event before it."),
    (drop, "Event 2 is missing before event 3."),
    (swap, "Event 2 stands where event 4 is due."),
    (insert, "Event 2 stands where event 3 is due."),
    (insert_renumbered, "The body of event 3 says that it is event 2."),
    (truncate, "The header says that 6 is the last event, the file ends at 5."),
    (edit_and_rechain, "The digest of the last event is not the one that the header gives."),
    (another_stream, f"The body of event 1 belongs to the stream {STREAM}."),
    (edit_blob, "has other content than its name says."),
    (drop_blob, "which event 3 refers to, is missing."),
    (edit_blob_size, "its line says 20001."),
    (broken_base64, "Line 8 is not a complete blob."),
    (header_gone, "Line 1 is not the header of a record in the format handrail-record/1."),
    (incomplete, "Line 5 is not a complete event."),
    (unknown_line, "Line 9 is neither an event nor a blob."),
]


@pytest.mark.parametrize(("change", "sentence"), CHANGES)
def test_each_kind_of_change_is_named(change, sentence) -> None:
    lines = export()
    change(lines)
    report = judged(lines)
    assert any(problem.endswith(sentence) for problem in report.problems), report.problems


def test_one_change_is_one_problem() -> None:
    for change in (edit_body, edit_time, truncate, drop_blob):
        lines = export()
        change(lines)
        assert len(judged(lines).problems) == 1


def test_a_record_replaced_as_a_whole_is_found_out_by_a_digest_noted_elsewhere() -> None:
    noted = export()[0]["head_digest"]
    lines = export()
    edit_and_rechain(lines)
    lines[0]["head_digest"] = lines[6]["digest"]
    assert judged(lines).ok
    assert judged(lines, head=noted).problems == [f"No event has the digest {noted}, the one noted elsewhere."]
    assert judged(export(), head=noted.upper()).ok


def test_a_head_noted_earlier_is_found_in_what_has_grown_since_and_not_in_what_was_changed_before_it() -> None:
    noted = export()[4]["digest"]
    grown = judged(export(), head=noted)
    assert grown.ok
    assert grown.notes == ["Up to event 4 it is what it was when that head was noted."]
    lines = export()
    edit_and_rechain(lines)
    lines[0]["head_digest"] = lines[6]["digest"]
    assert not judged(lines, head=noted).ok
    shortened = [*export()[:4], export()[-1]]
    shortened[0] |= {"head_seq": 3, "head_digest": shortened[3]["digest"]}
    assert judged(shortened).ok
    assert not judged(shortened, head=noted).ok


def test_a_clock_that_went_back_is_a_note_and_no_problem() -> None:
    lines = export()
    lines[4]["at_us"] -= 60_000_000
    rechained(lines)
    lines[0]["head_digest"] = lines[6]["digest"]
    report = judged(lines)
    assert report.ok
    assert len(report.notes) == 1
    assert report.notes[0].startswith("Event 4 is dated 2026-")


def test_a_blob_that_nobody_refers_to_is_a_note() -> None:
    lines = export()
    lines.append({"blob": hashlib.sha256(b"x").hexdigest(), "size": 1, "media_type": "text/plain", "base64": "eA=="})
    report = judged(lines)
    assert report.ok
    assert len(report.notes) == 1


@settings(deadline=None)
@given(at=st.integers(0), bit=st.integers(0, 7))
def test_a_flipped_bit_is_found_wherever_it_matters(at, bit) -> None:
    content = bytearray("\n".join(json.dumps(line) for line in export(3)).encode())
    content[at % len(content)] ^= 1 << bit
    lines = content.decode(errors="surrogateescape").split("\n")
    if verify(lines).ok:  # the only places that the chain does not cover
        header, *rest = [json.loads(line) for line in lines]
        expected = export(3)
        assert [line for line in rest if "seq" in line] == expected[1:4]
        assert {**header, "exported_at": ""} == {**expected[0], "exported_at": ""} or "exported_at" not in header
        assert rest[-1]["base64"] == expected[-1]["base64"]


@settings(deadline=None)
@given(lines=st.lists(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps)))
def test_no_content_makes_the_verifier_raise(lines) -> None:
    assert not verify(lines).ok


def run(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(path), *arguments],
        capture_output=True,
        text=True,
        cwd=path.parent,
        env={},
        check=False,
    )


def test_the_script_runs_by_itself_and_answers_by_its_exit_code(tmp_path) -> None:
    path = tmp_path / "export.jsonl"
    lines = export()
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    good = run(path)
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith(f"The record {STREAM} is whole: 6 events, 1 blobs, ")
    edit_body(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    bad = run(path)
    assert bad.returncode == 1
    assert bad.stdout == "Event 2 does not have the digest of its body, its time and the event before it.\n"


def test_a_file_that_is_none_of_ours_is_answered_in_sentences(tmp_path) -> None:
    missing = run(tmp_path / "nowhere")
    assert (missing.returncode, missing.stderr) == (1, "")
    assert "cannot be read" in missing.stdout
    (tmp_path / "binary").write_bytes(b"\xff\x00\n{}\n")
    binary = run(tmp_path / "binary")
    assert (binary.returncode, binary.stderr) == (1, "")
    (tmp_path / "empty").write_bytes(b"")
    assert run(tmp_path / "empty").stdout == "The file holds no record.\n"


def test_the_verifier_needs_nothing_but_the_standard_library() -> None:
    code = (
        "import sys, runpy; sys.argv = ['verifier.py', 'nowhere']\n"
        f"try: runpy.run_path({str(SCRIPT)!r}, run_name='__main__')\n"
        "except SystemExit: pass\n"
        "print(sorted(n for n in sys.modules if n.partition('.')[0] not in sys.stdlib_module_names | {'__main__'}))"
    )
    done = subprocess.run([sys.executable, "-S", "-E", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
