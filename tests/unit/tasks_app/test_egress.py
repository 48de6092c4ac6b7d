import pytest

from tasks_app.sandbox.egress import address_refusal


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.0.1", "100.64.0.1"),
        *("169.254.169.254", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fd00::1"),
        *("::127.0.0.1", "::a9fe:a9fe", "::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1", "fec0::1", "5f00::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:0001::", "2002:0a00:0001::1", "64:ff9b::7f00:1", "ff02::1"),
    ],
)
def test_private_local_and_reserved_addresses_are_refused_in_every_spelling(address):
    assert address in address_refusal(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111"])
def test_public_addresses_are_not(address):
    assert address_refusal(address) == ""
