"""Errors of services, shown on the page where the person tried the action."""

from types import TracebackType

import structlog
from django.utils.translation import gettext_lazy as _

from config.errors import DomainError

_ON_PAGES = {"unacknowledged": _("Tick each warning below when you have read it, or fix what it is about.")}
"""Sentences for operators that replace those of the API."""

log = structlog.get_logger("back_office")


class Reason:
    """Context manager with which pages about notices catch the errors of services. Other errors get an error page.

    In its body, a page performs the action and returns. The code after the body shows the reason:

        with Reason() as reason:
            services.submit(caller=caller, notice=notice)
            return redirect(…)
        return self._review(request, notice, reason.sentence, reason.status)
    """

    sentence = ""
    status = 200

    def __enter__(self) -> "Reason":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, DomainError):
            return False
        if error.status >= 500:
            log.error("page failed", code=error.code, exc_info=error)
        self.sentence, self.status = str(_ON_PAGES.get(error.code, error.sentence)), error.status
        return True
