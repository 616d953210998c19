"""Hosts from user input never lead to hosts that only the service can reach."""

import socket
from typing import Any

import pytest

from config import addresses
from config.addresses import AddressRefused, HostNotFound, PlaintextRefused
from tests.threads import HANGS_SECONDS

PUBLIC = ["8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "198.20.0.1", "100.63.255.255",
          "100.128.0.1", "2600::1", "2a00:1450:4001::1", "2001:4860:4860::8888"]  # fmt: skip
PRIVATE = [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3",  # this machine
    "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",  # private
    "169.254.169.254", "168.63.129.16", "192.0.0.192", "100.100.100.200",  # metadata of clouds
    "100.64.0.1", "100.127.255.255",  # carrier-grade NAT
    "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "192.88.99.1", "192.0.0.8",  # special purposes
    "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",  # multicast, reserved, broadcast
    "::1", "::", "fe80::1", "fe80::1%lo", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1",  # the same of IPv6
    "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8",  # IPv4 inside IPv6
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2001::1",
    "2001:db8::1", "3fff::1", "100::1", "5f00::1", "2620:4f:8000::1",
]  # fmt: skip
ODD_SPELLINGS = ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "127.0.0.1.", " 127.0.0.1 "]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Return the resolver's answers by name. Lookups are listed under `lookups`."""
    known: dict[str, list[str]] = {}

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        known.setdefault("lookups", []).append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return known


@pytest.mark.parametrize("ip", PUBLIC)
def test_a_public_address_is_vetted(ip: str) -> None:
    assert [address.ip for address in addresses.resolve(ip, 443)] == [ip]


@pytest.mark.parametrize("ip", PRIVATE)
def test_an_address_off_the_public_internet_is_refused(ip: str, names: dict[str, list[str]]) -> None:
    names["feed.example"] = [ip]
    with pytest.raises(AddressRefused):
        addresses.resolve("feed.example", 443)


@pytest.mark.parametrize("host", ODD_SPELLINGS)
def test_no_spelling_of_loopback_passes(host: str) -> None:
    with pytest.raises(AddressRefused):
        addresses.resolve(host, 443)


def test_one_private_address_among_public_ones_refuses_the_name(names: dict[str, list[str]]) -> None:
    names["feed.example"] = ["8.8.8.8", "10.0.0.1"]
    with pytest.raises(AddressRefused):
        addresses.resolve("feed.example", 443)


@pytest.mark.parametrize("host", ["nowhere.example", "a" * 300, "", "\u2603" * 80, "a..b"])
def test_an_unresolvable_name_is_not_found(host: str) -> None:
    with pytest.raises(HostNotFound):
        addresses.resolve(host, 443)


def test_operators_allow_hosts_by_name_and_networks_by_address(settings: Any, names: dict[str, list[str]]) -> None:
    names |= {"db.internal": ["10.1.2.3"], "other.internal": ["10.9.9.9"]}
    settings.ALLOWED_PRIVATE_HOSTS = ["DB.internal.", "192.168.7.0/24"]
    assert addresses.resolve("db.internal", 5432)[0].ip == "10.1.2.3"
    names["nas.internal"] = ["192.168.7.9"]
    assert addresses.resolve("nas.internal", 443)[0].ip == "192.168.7.9"
    with pytest.raises(AddressRefused):
        addresses.resolve("other.internal", 5432)


def connect(host: str, port: int) -> socket.socket:
    return addresses.connect_to(addresses.resolve(host, port), timeout=HANGS_SECONDS)


def test_connections_use_the_vetted_address(settings: Any, names: dict[str, list[str]]) -> None:
    """A DNS answer that changes between vetting and connecting has no effect."""
    settings.ALLOWED_PRIVATE_HOSTS = ["feed.internal"]
    names["feed.internal"] = ["127.0.0.1"]
    names["127.0.0.1"] = ["127.0.0.1"]
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        connect("feed.internal", server.getsockname()[1]) as made,
    ):
        assert made.getpeername() == server.getsockname()
    assert names["lookups"].count("feed.internal") == 1


def test_the_next_address_is_tried_if_one_refuses_the_connection(settings: Any, names: dict[str, list[str]]) -> None:
    settings.ALLOWED_PRIVATE_HOSTS = ["feed.internal"]
    names |= {"feed.internal": ["127.0.0.2", "127.0.0.1"], "127.0.0.1": ["127.0.0.1"], "127.0.0.2": ["127.0.0.2"]}
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        connect("feed.internal", server.getsockname()[1]) as made,
    ):
        assert made.getpeername()[0] == "127.0.0.1"
    with pytest.raises(OSError):
        connect("feed.internal", server.getsockname()[1])


def test_without_encryption_only_listed_hosts_are_accepted(names: dict[str, list[str]], settings: Any) -> None:
    names["feed.example"] = ["8.8.8.8"]
    with pytest.raises(PlaintextRefused):
        addresses.resolve("feed.example", 80, encrypted=False)
    for listed in ("feed.example", "8.8.8.0/24"):
        settings.ALLOWED_PRIVATE_HOSTS = [listed]
        assert [address.ip for address in addresses.resolve("feed.example", 80, encrypted=False)] == ["8.8.8.8"]
