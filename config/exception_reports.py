from typing import Any

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter


class PlacesAlone(SafeExceptionReporterFilter):
    """Reports of faults, also the pages of DEBUG, name the places a fault passed through and no value there.

    Variables and form fields may hold private texts; a list of those that do would one day miss one.
    """

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, Any]:
        return {} if request is None else dict.fromkeys(request.POST, self.cleansed_substitute)

    def get_traceback_frame_variables(self, request: Any, tb_frame: Any) -> Any:
        return [(name, self.cleansed_substitute) for name in tb_frame.f_locals]
