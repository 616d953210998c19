"""`/healthz`: the process answers. `/readyz`: everything it needs to accept a record answers too."""

import os
from collections.abc import Callable

import structlog
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from config.celery import app

log = structlog.get_logger("health")

_PROBES: dict[str, Callable[[], None]] = {}
_REPORTED: set[str] = set()
_FIGURES: dict[str, Callable[[], float | list[str]]] = {}


def register(name: str, probe: Callable[[], None], *, required: bool = True) -> None:
    """Register a part that must answer before this process is ready. `probe` raises if the part does not.

    Args:
        required: False for a part that only some organizations need: it is shown, but its failure does not make the
            process unready.
    """
    _PROBES[name] = probe
    if not required:
        _REPORTED.add(name)


def register_figure(name: str, figure: Callable[[], float]) -> None:
    """Register a number that operators watch. It does not affect readiness."""
    _FIGURES[name] = figure


def register_list(name: str, ids: Callable[[], list[str]]) -> None:
    """Register a list of ids that an operator should look at. It is public, so it must not hold names or secrets."""
    _FIGURES[name] = ids


@csrf_exempt
@require_safe
def alive(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@csrf_exempt
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    parts = {name: _answers(name, probe) for name, probe in _PROBES.items()}
    status = 200 if all(answers for name, answers in parts.items() if name not in _REPORTED) else 503
    shown = {name: "ok" if answers else "failing" for name, answers in parts.items()}
    figures = {name: _figure(name, figure) for name, figure in _FIGURES.items()}
    return JsonResponse({"status": "ok" if status == 200 else "failing", **shown, **figures}, status=status)


def _answers(name: str, probe: Callable[[], None]) -> bool:
    try:
        probe()
    except Exception as error:  # of any kind: the part is not ready, and the log says why
        log.error("not ready", part=name, exc_info=error)
        return False
    return True


def _figure(name: str, figure: Callable[[], float | list[str]]) -> float | list[str] | None:
    try:
        return figure()
    except Exception as error:  # the probes show the failing part
        log.error("no figure", part=name, exc_info=error)
        return None


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM django_migrations")


def _broker() -> None:
    if settings.REDIS_URL:
        with app.connection_for_write(connect_timeout=2) as broker:
            broker.ensure_connection(max_retries=1)
    elif not os.access(settings.BROKER_DIR, os.W_OK):
        raise PermissionError("the broker folder cannot be written")


register("database", _database)
register("broker", _broker)
