"""What a channel may reach: nothing inside, by whatever name."""

import builtins

import pytest

from approvals_app.notify.reach import NotReachable, address_pinned, addresses_of, service_of


@pytest.fixture(autouse=True)
def _private_is_refused(settings):
    settings.HANDRAIL_NOTIFY_PRIVATE = False


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "10.1.2.3",
        "192.168.0.1",
        "172.16.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "224.0.0.1",
        "100.64.0.1",
        "[::1]",
        "[fd00::1]",
        "[fe80::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "2130706433",
        "0x7f.1",
    ],
)
def test_addresses_inside_are_refused_in_every_spelling(host):
    with pytest.raises(NotReachable):
        address_pinned(f"https://{host}/hook")


@pytest.mark.parametrize(
    "address",
    ["", "hook", "ftp://example.com/", "file:///etc/passwd", "https://", "http://1.1.1.1/", "https://u:p@1.1.1.1/"],
)
def test_what_is_no_safe_web_address_is_refused(address):
    with pytest.raises(NotReachable):
        address_pinned(address)


def test_a_public_address_is_pinned_and_keeps_its_name():
    pinned = address_pinned("https://1.1.1.1:8443/hook?x=1")
    assert str(pinned.url) == "https://1.1.1.1:8443/hook?x=1"
    assert pinned.host_header == "1.1.1.1:8443"


def test_one_private_address_of_a_name_is_enough_to_refuse_it(monkeypatch):
    both = [(2, 1, 6, "", ("1.1.1.1", 443)), (2, 1, 6, "", ("10.0.0.1", 443))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *args, **more: both)
    with pytest.raises(NotReachable):
        addresses_of("both.example", 443)


def test_private_addresses_are_reached_where_the_installation_allows_it(settings):
    settings.HANDRAIL_NOTIFY_PRIVATE = True
    assert address_pinned("http://127.0.0.1:8080/hook").host == "127.0.0.1"


@pytest.mark.parametrize(
    "address",
    ["json://127.0.0.1/x", "jsons://10.0.0.1/", "ntfy://localhost/topic", "syslog://", "dbus://", "nonsense://x", "",
     "mailto://user:pass@example.com"],
)  # fmt: skip
def test_chat_services_inside_on_the_desktop_or_unknown_are_refused(address):
    with pytest.raises(NotReachable):
        service_of(address)


TELEGRAM = "tgram://123456789:abcdefg_hijklmnop/123/?template="
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/?template="
FILE = "/etc/hostname"


@pytest.mark.parametrize(
    "address",
    [f"{TELEGRAM}http://127.0.0.1:1/x", f"{TELEGRAM}file://{FILE}", f"{SLACK}{FILE}",
     f"discord://123456789012/abcdefghijklmnop/?template={FILE}",
     f"workflows://1.1.1.1:443/route/signature?template={FILE}",
     "workflows://1.1.1.1:443/route/signature?template=http://127.0.0.1:1/x",
     f"fcm://project/device?keyfile={FILE}", "fcm://project/device?mode=oauth2&keyfile=http://127.0.0.1:1/x",
     f"vapid://a@example.com/a@example.com?keyfile={FILE}&subfile={FILE}"],
)  # fmt: skip
def test_a_service_that_would_read_a_file_or_another_address_is_refused_and_nothing_is_read(address, monkeypatch):
    read = []
    monkeypatch.setattr("requests.Session.request", lambda self, method, url, **more: read.append(url))
    opened = builtins.open
    monkeypatch.setattr(
        builtins, "open", lambda *args, **more: read.append(args[0]) if args[0] == FILE else opened(*args, **more)
    )
    with pytest.raises(NotReachable):
        service_of(address)
    assert read == []


@pytest.mark.parametrize(
    "address",
    [f"zulip://bot@10.0.0.1/{'a' * 32}", "deltachats://user:pass@example.com?smtp=127.0.0.1",
     f"nostr://{'1' * 64}/127.0.0.1:7000"],
)  # fmt: skip
def test_a_host_that_stands_where_a_name_or_an_option_does_is_looked_at_too(address):
    with pytest.raises(NotReachable):
        service_of(address)


def test_a_hosted_service_whose_address_names_no_host_is_taken():
    assert service_of("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#general").service_name == "Slack"
