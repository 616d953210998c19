from typing import Any

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter


class PlacesAlone(SafeExceptionReporterFilter):
    """Reports of faults, and the pages of DEBUG, that show stack frames without values.

    Variables and form fields may hold private texts, and a list of the private ones would eventually miss one.
    """

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, Any]:
        return {} if request is None else dict.fromkeys(request.POST, self.cleansed_substitute)

    def get_traceback_frame_variables(self, request: Any, tb_frame: Any) -> Any:
        return [(name, self.cleansed_substitute) for name in tb_frame.f_locals]
