"""Where a request came from."""

import re
from ipaddress import IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest

_WITH_PORT = re.compile(r"\[([^]]+)\](?::\d+)?|([\d.]+):\d+")  # some proxies write the client's port too
_IPV6_NETWORK = 64  # what one household or server gets: its addresses are nobody else's, and more than can be counted


def address(request: HttpRequest) -> str:
    """The address a request came from, to show and to record.

    Behind TRUSTED_PROXIES proxies it is the entry of CLIENT_ADDRESS_HEADER that the outermost of them wrote; what a
    client puts there itself stands further left and is never believed.
    """
    named = request.headers.get(settings.CLIENT_ADDRESS_HEADER, "")
    hops = [part.strip() for part in named.split(",") if part.strip()]
    proxies = settings.TRUSTED_PROXIES
    found = str(hops[-proxies] if 0 < proxies <= len(hops) else request.META.get("REMOTE_ADDR", ""))
    if with_port := _WITH_PORT.fullmatch(found):
        found = with_port[1] or with_port[2]
    return found[:45]


def network(request: HttpRequest) -> str:
    """Whom limits count together: the address, of IPv6 its /64."""
    found = address(request)
    try:
        parsed = ip_address(found)
    except ValueError:
        return found
    if not isinstance(parsed, IPv6Address):
        return found
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((int(parsed), _IPV6_NETWORK), strict=False))
