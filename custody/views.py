"""Public files of custody: the verifier, which customers download and keep."""

from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from custody.sealing import verifier

_SOURCE = Path(verifier.__file__).read_bytes()


@require_safe
def verifier_file(request: HttpRequest) -> HttpResponse:
    name = 'attachment; filename="verifier.py"'
    return HttpResponse(_SOURCE, "text/x-python; charset=utf-8", headers={"Content-Disposition": name})


urlpatterns = [path("verify/verifier.py", verifier_file, name="verifier")]
