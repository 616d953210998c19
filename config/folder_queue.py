"""The queue of tasks in a folder, which one machine uses without Redis."""

import os
import time
import uuid
from pathlib import Path
from typing import Any

from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    """A channel whose messages appear in the folder with their content."""

    def _put(self, queue: str, message: Any, **_: Any) -> None:  # type: ignore[override]  # as two of kombu differ
        """Put a message.

        kombu creates the file empty and then writes it. A worker that reads it in between loses the message and exits.
        """
        path = Path(self.data_folder_out, f"{time.time_ns()}_{uuid.uuid4()}.{queue}.msg")
        draft = path.with_suffix(".draft")
        draft.write_text(dumps(message))
        os.replace(draft, path)


class Transport(filesystem.Transport):
    """Transport whose workers look for messages often."""

    Channel = Channel
    polling_interval = 0.2
    """Seconds. A worker also pauses so long after each task: at kombu's 1 s, a sign-in code waited for 10 s behind the
    tasks of a minute."""
