"""A wake-up is a hint: its sender does not wait during a broker outage."""

import os
import socket
import threading

from tests.support import forks

WAKE = (
    "import django; django.setup()\nfrom config.celery import wake\nfor _ in range(3): wake('connectors.tasks.poll')\n"
)


def test_each_wake_up_is_sent_once_during_a_broker_outage(tmp_path):
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as broker:

        def hang_up():
            while True:
                try:
                    asked.append(broker.accept()[0].close())
                except OSError:
                    return

        threading.Thread(target=hang_up).start()
        url = f"redis://127.0.0.1:{broker.getsockname()[1]}/0"
        nowhere = {"DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3", "DATA_DIR": str(tmp_path)}
        environment = {**os.environ, "REDIS_URL": url, **nowhere}
        done = forks.run(WAKE, environment)
        broker.shutdown(socket.SHUT_RDWR)
    assert done.returncode == 0, done.stderr
    assert len(asked) == 3
