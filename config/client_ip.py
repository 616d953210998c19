"""The client address of a request."""

import re
from ipaddress import IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest

_WITH_PORT = re.compile(r"\[([^]]+)\](?::\d+)?|([\d.]+):\d+")  # some proxies add the client's port
_IPV6_NETWORK = 64  # one household or server gets a /64, too many addresses to count one by one


def address(request: HttpRequest) -> str:
    """Return the client's address, to show and to record.

    Behind TRUSTED_PROXIES proxies this is the entry of CLIENT_ADDRESS_HEADER that the outermost proxy wrote. Entries
    further left come from the client and are ignored.
    """
    named = request.headers.get(settings.CLIENT_ADDRESS_HEADER, "")
    hops = [part.strip() for part in named.split(",") if part.strip()]
    proxies = settings.TRUSTED_PROXIES
    client = str(hops[-proxies] if 0 < proxies <= len(hops) else request.META.get("REMOTE_ADDR", ""))
    if with_port := _WITH_PORT.fullmatch(client):
        client = with_port[1] or with_port[2]
    return client[:45]


def network(request: HttpRequest) -> str:
    """Return the network that limits count as one client: the IPv4 address, or the IPv6 /64."""
    client = address(request)
    try:
        parsed = ip_address(client)
    except ValueError:
        return client
    if not isinstance(parsed, IPv6Address):
        return client
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((int(parsed), _IPV6_NETWORK), strict=False))
