"""A Redis that can be killed and started again on the same port."""

import shutil
import subprocess

from tests.system.live import lasting_port
from tests.throwaway import wait_for_port


class Broker:
    def __init__(self) -> None:
        self.port = lasting_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise SystemExit("redis-server is missing: run `make services`.")
        options = f"--port {self.port} --bind 127.0.0.1 --save  --appendonly no".split(" ")
        self._process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
        wait_for_port(self.port)

    def kill(self) -> None:
        """Kill Redis. Its messages are lost."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
