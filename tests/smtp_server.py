"""A mail server for tests: it speaks SMTP on a free loopback port, keeps accepted mails, and refuses on demand."""

import email
import email.policy
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage


class MailServer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.port: int = self.server_address[1]
        self.taken: list[tuple[str, EmailMessage]] = []
        self.refused: set[str] = set()
        """Recipients that are refused for good, with 550."""
        self.closed = ""
        """The answer to every recipient, if the server refuses all mail."""
        self.busy: set[str] = set()
        """Recipients that are refused for now, with 450."""
        self.breaking: set[str] = set()
        """Recipients at whose mail the server hangs up in the middle."""

    def recipients(self) -> list[str]:
        return [recipient for recipient, _ in self.taken]


class _Conversation(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say("220 ready")
        recipient = ""
        while line := self.rfile.readline().decode("ascii").strip():
            verb, argument = line[:4].upper(), line.partition(":")[2].strip().strip("<>")
            if verb == "QUIT":
                self._say("221 bye")
                return
            if verb == "RCPT":
                recipient = argument
                self._say(self._about(recipient))
            elif verb == "DATA" and recipient in self.server.breaking:
                return
            elif verb == "DATA":
                self._say("354 go on")
                self.server.taken.append((recipient, self._message()))
                self._say("250 taken")
            else:
                self._say("250 yes")

    def _about(self, recipient: str) -> str:
        if self.server.closed:
            return self.server.closed
        if recipient in self.server.refused:
            return "550 unknown here"
        return "450 busy" if recipient in self.server.busy else "250 yes"

    def _message(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return email.message_from_bytes(b"".join(lines), policy=email.policy.default)  # type: ignore[return-value]

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
