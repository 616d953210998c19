"""The web server: granian, with a watch over its workers. `python -m config.web` takes granian's options."""

from granian.cli import entrypoint

from config import heartbeats


def main() -> None:
    """Serve until a signal ends it."""
    heartbeats.watch()
    entrypoint()


if __name__ == "__main__":
    main()
