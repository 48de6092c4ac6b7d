"""A run's results as JSON, as JUnit, and as one HTML file that needs nothing else."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

from django.conf import settings
from django.template.loader import render_to_string

from chaos_app.drills.caught import caught_said
from chaos_app.drills.judge import JUDGE
from chaos_app.drills.left_out import gathered
from chaos_app.drills.matrix import COLUMNS, matrix
from chaos_app.drills.names import UNDECIDED, Klass, Verdict
from chaos_app.drills.obligations import obligations
from chaos_app.drills.results import Result, Results
from chaos_app.drills.rows import BY_ID
from chaos_app.drills.stories import is_compared, stories
from chaos_app.drills.telling import compared, covered, held
from chaos_app.drills.undrilled import Undrilled, undrilled
from chaos_app.drills.workers import workers_of
from core import words

STYLES = ("css/tokens.css", "css/components/drills.css")


def report_data(results: Results) -> dict[str, Any]:
    """Return everything about a run but its evidence, as JSON values. Seconds; moments are seconds since 1970."""
    return {
        "format": "handrail-drill-report/1",
        "run": results.run,
        "suite": results.suite,
        "seed": results.seed,
        "command": results.command,
        "began": results.began,
        "ended": results.ended,
        "versions": {**results.versions, "judge": JUDGE},
        "exit_code": results.exit_code,
        "sentence": results.sentence,
        "summary": results.summary,
        "verdicts": dict(Counter(str(result.verdict) for result in results.results)),
        "obligations": [asdict(one) | {"result": one.word} for one in obligations(results.results)],
        "planted": [asdict(one) for one in results.planted],
        "unprotected": None if results.caught is None else [asdict(one) for one in results.caught],
        "assumptions": dict(assumptions(results)),
        "stories": [{"case": story.result.id, "says": story.says} for story in stories(results.results)],
        "places_not_drilled": [asdict(one) for one in places_without(results)],
        "left_out": [asdict(one) for one in results.left_out],
        "cases": [case_data(result) for result in results.results],
    }


def case_data(result: Result) -> dict[str, Any]:
    """Return one case of a report."""
    cell, said = result.evidence.cell, result.judgement
    return {
        "id": result.id,
        "row": cell.row,
        "position": cell.position,
        "class": str(cell.klass),
        "fault": str(cell.fault),
        "workload": cell.workload,
        "hit": cell.hit,
        "verdict": str(said.verdict),
        "allowed": [str(end) for end in said.allowed],
        "as_allowed": said.as_allowed,
        "cause": said.cause,
        "workers": [asdict(one) for one in workers_of(result.evidence)],
        "broken": [asdict(one) for one in said.broken],
        "unchecked": list(said.unchecked),
        "takeover_seconds": said.takeover,
        "takeover_bound_seconds": said.takeover_bound,
        "settled_seconds": said.settled,
        "settled_bound_seconds": said.settled_bound,
        "repeated": result.repeated,
        "evidence_sha256": result.digest,
        "seed": result.evidence.seed,
        "command": result.evidence.command,
    }


def places_without(results: Results) -> list[Undrilled]:
    """Return the places of the table at which no case of this run was, each with the reason."""
    rows = {result.row for result in results.results}
    return undrilled(rows, results.left_out, suite=results.suite, command=results.command)


def assumptions(results: Results) -> list[tuple[str, str]]:
    """Return what was taken for granted, each once."""
    found = {pair for result in results.results for pair in result.evidence.expected.assumptions.items()}
    return sorted(found)


def report_json(results: Results) -> str:
    """Return the report as JSON text."""
    return json.dumps(report_data(results), indent=1, ensure_ascii=False) + "\n"


def report_junit(results: Results) -> str:
    """Return the report in the form that continuous integration reads: a suite a row, a test a case."""
    root = xml.Element("testsuites", name=f"recovery drills: {results.suite}")
    for row in dict.fromkeys(result.evidence.cell.row for result in results.results):
        mine = [result for result in results.results if result.evidence.cell.row == row]
        suite = xml.SubElement(root, "testsuite", name=row, tests=str(len(mine)))
        suite.set("failures", str(sum(result.judgement.is_violation for result in mine)))
        suite.set("errors", str(sum(result.verdict in UNDECIDED for result in mine)))
        for result in mine:
            _junit_case(suite, result)
    judge = xml.SubElement(root, "testsuite", name="planted bugs", tests=str(len(results.planted)))
    for bug in results.planted:
        case = xml.SubElement(judge, "testcase", classname="planted bugs", name=bug.bug)
        if not bug.found:
            xml.SubElement(case, "failure", message="The judge did not find it.")
    _junit_caught(root, results)
    _junit_cut(root, results)
    return xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _junit_caught(root: xml.Element, results: Results) -> None:
    """Add the executor that protects nothing, if it was asked for: what is not caught fails."""
    if results.caught is None:
        return
    suite = xml.SubElement(root, "testsuite", name="unprotected executor", tests=str(len(results.caught)))
    suite.set("failures", str(sum(not one.is_caught for one in results.caught)))
    if not results.caught:
        xml.SubElement(xml.SubElement(suite, "testcase", name="any place"), "failure", message="It was not run.")
    for one in results.caught:
        case = xml.SubElement(suite, "testcase", classname=suite.get("name", ""), name=f"{one.row}.{one.klass}")
        if not one.is_caught:
            xml.SubElement(case, "failure", type=one.end, message="It was not caught repeating or losing an effect.")


def _junit_cut(root: xml.Element, results: Results) -> None:
    """Add what was to be played and was not: each is an error, as it says nothing."""
    if not results.cut:
        return
    suite = xml.SubElement(root, "testsuite", name="not played", tests=str(len(results.cut)))
    suite.set("errors", str(len(results.cut)))
    for one in results.cut:
        name = f"{one.row}.{one.position}.{one.klass}: {one.fault}"
        xml.SubElement(xml.SubElement(suite, "testcase", classname=one.row, name=name), "error", message=one.reason)


def _junit_case(suite: xml.Element, result: Result) -> None:
    took = f"{result.evidence.ended - result.evidence.began:.3f}"
    case = xml.SubElement(suite, "testcase", classname=result.evidence.cell.row, name=result.id, time=took)
    message = f"{result.verdict}: {result.judgement.cause}"
    if result.judgement.is_violation:
        xml.SubElement(case, "failure", type=str(result.verdict), message=message).text = result.evidence.command
    elif result.verdict in UNDECIDED:
        xml.SubElement(case, "error", type=str(result.verdict), message=message)


def report_html(results: Results) -> str:
    """Return the report as one HTML file."""
    found, lines = Counter(result.verdict for result in results.results), matrix(results.results)
    context = {
        "results": results,
        "lines": [line for line in lines if line.is_drilled],
        "elsewhere": places_without(results),
        "in_order": _in_order(results.results),
        "left_out": gathered(results.left_out),
        "columns": COLUMNS,
        "undecided": [str(verdict) for verdict in UNDECIDED],
        "counts": [_counted(verdict, found[verdict]) for verdict in reversed(Verdict) if found[verdict]],
        "covered": covered(results.results),
        "held": held(results.results),
        "compared": compared(results.results),
        "caught": "" if results.caught is None else caught_said(results.caught),
        "found": sum(bug.found for bug in results.planted),
        "obligations": obligations(results.results),
        "assumptions": assumptions(results),
        "stories": stories(results.results),
        "is_compared": any(is_compared(result) for result in results.results),
        "style": _style(),
        "witness": _witness(results),
        "judge": JUDGE,
    }
    return render_to_string("drills/report.html", context)


MEANS = {
    Verdict.ONCE: "The outside counted each effect once, though the worker died.",
    Verdict.NONE: "The outside counted no effect, and there was to be none: it was denied, cancelled or too late.",
    Verdict.BLOCKED: "Nothing is sent until a person has looked, for one of the reasons below.",
    Verdict.INCONCLUSIVE: "The evidence does not suffice. This counts as no pass.",
    Verdict.NOT_FIRED: "The fault could not be done, or did not do what it should. This counts as no pass.",
    Verdict.STUCK: "The task came to no end, and nobody was asked.",
    Verdict.WRONG: "The record and the outside disagree, or a rule was broken.",
    Verdict.LOST: "The task says that it is done, and the outside counted no effect.",
    Verdict.REPEATED: "The outside counted an effect more than once.",
}


def _counted(verdict: Verdict, count: int) -> dict[str, Any]:
    return {"word": words.word("verdict", verdict), "count": count, "means": MEANS[verdict]}


def _in_order(results: Iterable[Result]) -> list[Result]:
    """Return cases as the table has them."""
    rows, classes = list(BY_ID), list(Klass)
    return sorted(results, key=lambda one: (rows.index(one.row), classes.index(Klass(one.klass)), one.id))


WITNESSES = {
    "world": "A separate program with storage of its own plays the outside: it counts every request and every effect.",
    "ledger()": "The outside is the agent's own: its ledger, asked by no worker, names every effect.",
    "recording proxy": "The outside is the agent's own service: a proxy in front of it counts requests and effects.",
    "nobody": "Nobody outside of the workers counts the effects of this target.",
}


def _witness(results: Results) -> str:
    """Say who counted. A run has one target, and so one witness."""
    source = next((one.evidence.witness.source for one in results.results), "world")
    return WITNESSES.get(source, WITNESSES["world"])


def _style() -> str:
    static = [(settings.BASE_DIR / "static" / name).read_text() for name in STYLES]
    return "\n".join([*static, (Path(__file__).parent / "report.css").read_text()])
