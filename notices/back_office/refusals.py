"""Why something could not be done, told on the page where the person tried it."""

from types import TracebackType

import structlog

from config.errors import DomainError

_ON_PAGES = {"unacknowledged": "Tick each warning below when you have looked at it, or mend what it is about."}
"""What says more to an operator than what programs are told."""

log = structlog.get_logger("back_office")


class Reason:
    """The one place where pages about notices catch what services raise. Elsewhere a page of its own tells of it.

    Within it, a page does what was asked for and returns. What follows it is for the reason:

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
        self.sentence, self.status = _ON_PAGES.get(error.code, error.sentence), error.status
        return True
