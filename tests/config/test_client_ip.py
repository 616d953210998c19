"""The client address of a request: shown in full, counted by its network."""

import pytest
from django.test import RequestFactory

from config import client_ip


@pytest.mark.parametrize(
    ("written", "address", "network"),
    [
        ("192.0.2.1", "192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:4711", "192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::9", "2001:DB8:1:2::9", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::9", "2001:db8:1:3::9", "2001:db8:1:3::/64"),
        ("[2001:db8::1]:4711", "2001:db8::1", "2001:db8::/64"),
        ("[2001:db8::1]", "2001:db8::1", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::1%eth0", "fe80::/64"),
        ("::1", "::1", "::/64"),
        ("unknown", "unknown", "unknown"),
        ("x" * 500, "x" * 45, "x" * 45),
        ("", "", ""),
    ],
)
def test_an_address_is_shown_in_full_and_counted_by_its_network(written, address, network):
    request = RequestFactory().get("/", REMOTE_ADDR=written)
    assert (client_ip.address(request), client_ip.network(request)) == (address, network)


def test_a_forwarded_address_is_parsed_like_that_of_a_connection(settings):
    settings.TRUSTED_PROXIES = 1
    request = RequestFactory().get("/", headers={"X-Forwarded-For": "198.51.100.7, [2001:db8::1]:4711"})
    assert (client_ip.address(request), client_ip.network(request)) == ("2001:db8::1", "2001:db8::/64")
