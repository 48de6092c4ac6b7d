"""What a tool's clients trust."""

import ssl

import pytest

from tasks_app.outside import _trust


@pytest.mark.parametrize(("base_url", "any_known"), [("", True), ("https://a.test", True), ("http://a.test", False)])
def test_certificates_are_read_where_one_can_be_asked_for_and_always_checked(base_url: str, any_known: bool) -> None:
    trust = _trust(base_url)
    assert bool(trust.cert_store_stats()["x509_ca"]) == any_known
    assert (trust.verify_mode, trust.check_hostname) == (ssl.CERT_REQUIRED, True)
