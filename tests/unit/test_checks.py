"""Settings that are unsafe or cannot work are named, each with what to do."""

import os
import subprocess
import sys

import pytest
from django.core.checks import run_checks

from tests.processes import ROOT


@pytest.fixture
def found(settings):
    """The ids that the checks report for settings changed this way."""

    def check(**changes):
        for name, value in changes.items():
            setattr(settings, name, value)
        messages = run_checks(include_deployment_checks=True)
        ours = [message for message in messages if message.id.startswith("core.")]
        assert all(message.hint for message in ours)
        return {message.id for message in ours if message.level >= 30} - {"core.W010", "core.W011", "core.W012"}

    return check


def test_the_default_settings_are_safe(found):
    assert found() == set()


PUBLIC = {"PUBLIC_URL": "https://h.example", "USES_TLS": True, "ALLOWED_HOSTS": ["h.example"]}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (PUBLIC | {"DEBUG": True}, {"core.E001"}),
        ({"DEBUG": True}, set()),
        ({"SECRET_KEY": "short"}, {"core.E002"}),
        (PUBLIC | {"ALLOWED_HOSTS": ["*"]}, {"core.E003"}),
        ({"PUBLIC_URL": "handrail.example"}, {"core.E004"}),
        (PUBLIC | {"ALLOWED_HOSTS": ["other.example"]}, {"core.E005"}),
        (PUBLIC | {"ALLOWED_HOSTS": [".example"]}, set()),
        (PUBLIC | {"PUBLIC_URL": "http://h.example", "USES_TLS": False}, {"core.E006"}),
        (PUBLIC | {"SECURE_SSL_REDIRECT": True}, {"core.W007"}),
        ({"LEASE_SECONDS": 1.0}, {"core.E008"}),
        ({"LEASE_SECONDS": 600.0}, {"core.W009"}),
    ],
)
def test_what_is_unsafe_is_named(found, changes, expected):
    assert found(**changes) == expected


def test_one_role_for_owner_and_application_is_said(settings):
    application = settings.DATABASES["default"]
    for owner, said in ((None, True), (dict(application), True), ({**application, "USER": "owner"}, False)):
        settings.DATABASE_OWNER = owner
        ids = {message.id for message in run_checks(include_deployment_checks=True)}
        assert ("core.W010" in ids) is said


def test_keys_that_each_machine_would_make_for_itself_are_said(settings):
    for keys, file, said in (([], "", True), (["key"], "", False), ([], "/etc/keys", False)):
        settings.HANDRAIL_CREDENTIAL_KEYS, settings.HANDRAIL_CREDENTIAL_KEYS_FILE = keys, file
        ids = {message.id for message in run_checks(include_deployment_checks=True)}
        assert ("core.W012" in ids) is said


def manage(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "core.settings"} | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_a_deployment_set_up_as_the_hints_say_has_nothing_to_report():
    result = manage(
        "check",
        "--deploy",
        "--fail-level=WARNING",
        SECRET_KEY="k" * 20 + "0123456789" * 4,
        HANDRAIL_CREDENTIAL_KEYS="as-manage.py-credential-key-prints-it",
        PUBLIC_URL="https://handrail.example.org",
        ALLOWED_HOSTS="handrail.example.org",
        BEHIND_PROXY="1",
        DATABASE_URL="postgresql://application@db.example/handrail",
        DATABASE_OWNER_URL="postgresql://owner@db.example/handrail",
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("variable", "value"), [("HANDRAIL_LEASE_SECONDS", "soon"), ("DATABASE_URL", "sqlite:///handrail.db")]
)
def test_a_variable_that_cannot_be_read_is_named_in_one_sentence(variable, value):
    result = manage("check", **{variable: value})
    assert result.returncode == 1
    assert variable in result.stderr
    assert "Traceback" not in result.stderr
