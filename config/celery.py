import os
from typing import Any

import structlog
from celery import Celery
from celery.signals import setup_logging, task_postrun, task_prerun
from django.db import transaction
from django.utils.module_loading import import_string
from kombu.exceptions import OperationalError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("decision-record-service")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Do nothing. A connected receiver stops Celery from replacing the logging of config.logs."""


@task_prerun.connect
def name_task(task: Any, **_: Any) -> None:
    """Add the task's name to every line it logs: Celery logs it as an argument, and config.logs drops arguments."""
    structlog.contextvars.bind_contextvars(task=task.name)


@task_postrun.connect
def forget_task(**_: Any) -> None:
    structlog.contextvars.unbind_contextvars("task")


def wake(task: str, *, expires: float = 60) -> None:
    """Start the task with this path once the current transaction commits.

    This is only a hint: the committed row is the queue, and beat starts the same task anyway. So a broker outage must
    not fail a request whose work is done.

    Args:
        expires: seconds after which an undelivered message is dropped.
    """
    transaction.on_commit(lambda: _send(task, expires), robust=True)


def _send(task: str, expires: float) -> None:
    try:
        import_string(task).apply_async(expires=expires, retry=False)
    except (OperationalError, OSError) as error:
        structlog.get_logger("celery").warning("broker does not take wake-ups", task=task, exc_info=error)
