"""Connections to a customer's PostgreSQL, without the password file, certificates and tickets of this process."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from config.addresses import Address, resolve
from config.vetted_http import trusted_ca_file
from connectors.kinds.base import Source
from connectors.kinds.faults import required_secret, step
from connectors.kinds.postgres.refusals import refusal

STATEMENT_SECONDS = 60
_MAX_ADDRESSES = 4
_OPTIONS = " ".join(
    f"-c {setting}"
    for setting in (
        "default_transaction_read_only=on",
        "idle_in_transaction_session_timeout=300s",
        "lock_timeout=10s",
        "TimeZone=UTC",
        "DateStyle=ISO",
        "IntervalStyle=iso_8601",
    )
)


@contextmanager
def connected(source: Source[Any]) -> Iterator[psycopg.Connection[Any]]:
    """Open a read-only connection that is closed at the source's deadline."""
    config = source.config
    password = required_secret(source)
    with step(source, "address", "The host's address is allowed."):
        addresses = resolve(config.host, config.port, encrypted=config.tls == "verify")[:_MAX_ADDRESSES]
    connection = _connection(source, addresses, password)
    with source.step("connection", "The host takes the connection."):
        pass
    with source.step("signed in", "The database accepts user and password."):
        pass
    with _ended_at_deadline(connection, source), connection:
        yield connection


def _connection(source: Source[Any], addresses: list[Address], password: str) -> psycopg.Connection[Any]:
    config = source.config
    seconds = min(STATEMENT_SECONDS, source.seconds_left)
    try:
        return psycopg.connect(
            host=",".join([config.host] * len(addresses)),
            hostaddr=",".join(address.ip for address in addresses),
            port=config.port,
            dbname=config.database,
            user=config.user,
            password=password,
            connect_timeout=max(2, int(min(10, source.seconds_left))),
            options=f"{_OPTIONS} -c statement_timeout={int(seconds * 1000)}",
            application_name="decision-record-service",
            **_security_options(config.tls),
        )
    except psycopg.Error as error:
        name, fault = refusal(error)
        with source.step(name, ""):
            raise fault from None


def _security_options(tls: str) -> dict[str, Any]:
    """Return options that keep libpq from using files, tickets and environment of the service's user."""
    encrypted = {"sslmode": "verify-full", "sslrootcert": trusted_ca_file()}
    return {
        **(encrypted if tls == "verify" else {"sslmode": "disable"}),
        "sslcertmode": "disable",
        "gssencmode": "disable",
        "passfile": os.devnull,
        "client_encoding": "UTF8",
        "require_auth": "scram-sha-256,md5" if tls == "off" else "scram-sha-256,md5,password",
        "tcp_user_timeout": 20_000,
    }


@contextmanager
def _ended_at_deadline(connection: psycopg.Connection[Any], source: Source[Any]) -> Iterator[None]:
    """Close the connection at the deadline. The timeouts of a server do not help if it stops answering."""
    with socket.socket(fileno=os.dup(connection.fileno())) as raw:

        def end() -> None:
            with suppress(OSError):
                raw.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(source.seconds_left + 1, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
