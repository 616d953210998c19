import os
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from honcho.manager import Manager

_STOPPED_BY_CTRL_C = 130


class Command(BaseCommand):
    help = "Run the web server and the worker with its clock together; Ctrl-C, or the end of either, stops both."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        python = sys.executable
        web = (
            f"{python} -m granian --interface wsgi config.wsgi:application "
            f"--host {options['host']} --port {options['port']} "
            # Processes rather than threads: Python computes in one thread at a time, and half of them wait for commits.
            "--workers 4 --blocking-threads 2 --log-level error --workers-kill-timeout 4"
        )
        worker = (
            f"{python} -W ignore -m celery --quiet -A config worker -B --concurrency 1 --loglevel WARNING "
            f"--schedule {settings.CELERY_BEAT_SCHEDULE_FILENAME}"
        )
        environment = {**os.environ, "DATA_DIR": str(settings.DATA_DIR), "LOG_LEVEL": "WARNING"}
        manager = Manager()
        manager.add_process("web", web, env=environment, cwd=settings.BASE_DIR)
        manager.add_process("worker", worker, env=environment, cwd=settings.BASE_DIR)
        manager.loop()
        sys.exit(0 if manager.returncode == _STOPPED_BY_CTRL_C else manager.returncode)
