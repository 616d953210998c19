from django.conf import settings
from django.http import HttpRequest


def address(request: HttpRequest) -> str:
    """The address a request came from.

    Behind TRUSTED_PROXIES proxies it is the entry of X-Forwarded-For that the outermost of them wrote; what a client
    puts there itself stands further left and is never believed.
    """
    hops = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    proxies = settings.TRUSTED_PROXIES
    found = hops[-proxies] if 0 < proxies <= len(hops) else request.META.get("REMOTE_ADDR", "")
    return str(found)[:45]
