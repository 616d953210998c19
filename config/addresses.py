"""Hosts from user input: resolved once, with every address vetted, and connections to vetted addresses only.

A user can name a host that only this service can reach: a cloud's metadata service, a database behind the firewall, the
service itself. `ipaddress` cannot decide this: `is_private` is False for 100.64.0.0/10, NAT64 and `::127.0.0.1`,
`is_global` is True for multicast, and both differ between patch releases of Python.
"""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import ClassVar

from django.conf import settings

from config.errors import DomainError

# IANA's registry of special-purpose IPv4 addresses, multicast, and the address of Azure's host services.
_REFUSED_V4 = [
    ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
]
# Of IPv6, only global unicast is public, except the special-purpose ranges in IANA's registry. This excludes addresses
# that carry an IPv4 address (mapped, compatible, NAT64, Teredo, 6to4), and local, multicast and documentation ones.
_PUBLIC_V6 = ip_network("2000::/3")
_REFUSED_V6 = [
    ip_network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
]


class HostNotFound(DomainError):
    """The name resolves to nothing."""

    code: ClassVar = "host_not_found"
    status: ClassVar = 422
    sentence = "This host name does not resolve. Check its spelling."


class AddressRefused(DomainError):
    """The host resolves to an address that is not on the public internet, and the operator has not allowed it."""

    code: ClassVar = "address_refused"
    status: ClassVar = 422
    sentence = (
        "This host is not on the public internet. If it is one of yours, "
        "the operator of this service can add it to ALLOWED_PRIVATE_HOSTS."
    )


class PlaintextRefused(DomainError):
    """The connection would not be encrypted, and the operator has not allowed the host."""

    code: ClassVar = "plaintext_refused"
    status: ClassVar = 422
    sentence = (
        "The connection to this host would not be encrypted. Use TLS (https://), "
        "or ask the operator of this service to add the host to ALLOWED_PRIVATE_HOSTS."
    )


@dataclass(frozen=True, slots=True)
class Address:
    """A vetted address. `host` is the requested name, which TLS and HTTP still use."""

    host: str
    ip: str
    port: int


def resolve(host: str, port: int, *, encrypted: bool = True) -> list[Address]:
    """Return the addresses of a host, in the resolver's order.

    One refused address refuses the host: a name that mixes public and private addresses is suspicious.

    Args:
        encrypted: whether TLS protects the connection. Without it, only ALLOWED_PRIVATE_HOSTS are accepted.

    Raises:
        HostNotFound, AddressRefused, PlaintextRefused
    """
    name = host.strip().strip("[]").rstrip(".").lower()
    try:
        infos = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # UnicodeError: not a valid DNS name
        raise HostNotFound from None
    ips = list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in infos))
    if name not in _allowed_names():
        if not all(_is_allowed(ip_address(ip)) for ip in ips):
            raise AddressRefused
        if not encrypted and not all(_is_listed(ip_address(ip)) for ip in ips):
            raise PlaintextRefused
    return [Address(host, ip, port) for ip in ips]


def connect_to(vetted: list[Address], *, timeout: float) -> socket.socket:
    """Open a TCP connection to the first of these addresses that accepts one, without another DNS lookup.

    Args:
        timeout: seconds for each attempt, and for each later operation on the socket.

    Raises:
        OSError: no address accepts the connection.
    """
    failure: OSError | None = None
    for address in vetted:
        try:
            return socket.create_connection((address.ip, address.port), timeout=timeout)
        except OSError as error:
            failure = error
    assert failure is not None  # noqa: S101 - a resolved name has an address
    raise failure


def _is_allowed(ip: IPv4Address | IPv6Address) -> bool:
    return _is_public(ip) or _is_listed(ip)


def _is_listed(ip: IPv4Address | IPv6Address) -> bool:
    return any(ip in network for network in _allowed_networks())


def _is_public(ip: IPv4Address | IPv6Address) -> bool:
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _REFUSED_V4)
    return ip in _PUBLIC_V6 and not any(ip in network for network in _REFUSED_V6)


def _allowed_names() -> set[str]:
    return {entry.lower().rstrip(".") for entry in settings.ALLOWED_PRIVATE_HOSTS}


def _allowed_networks() -> Iterator[IPv4Network | IPv6Network]:
    for entry in settings.ALLOWED_PRIVATE_HOSTS:
        try:
            yield ip_network(entry)
        except ValueError:  # a name
            continue
