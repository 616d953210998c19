"""Faults for errors of a database, in our words: its messages may repeat values of rows."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from connectors.kinds.base import SourceFault

_LATER = "No action needed; it will be retried. If it persists, contact the database's operator."
_CREDENTIALS = "Check user, and the password that secret_ref names."

# While connecting, errors have no code but only a text, in English from libpq and in any language from a server.
_CERTIFICATE = ("certificate", "host name", "ssl error")
_BROKEN_OFF = ("refused", "timeout", "timed out", "closed the connection", "reset by peer", "unreachable", "no route")
_BUSY = ("starting up", "shutting down", "too many", "remaining connection slots", "recovery")
_BUSY_CLASSES = ("08", "40", "53", "57", "58")
"""SQLSTATE classes: broken connection, rolled-back transaction, few resources, operator intervention, system."""


@contextmanager
def mapped() -> Iterator[None]:
    """Raise SourceFault for errors of a query."""
    try:
        yield
    except psycopg.Error as error:
        raise _of_query(error) from None


def refusal(error: psycopg.Error) -> tuple[str, SourceFault]:
    """Return the step of connecting that failed, and its fault."""
    text = str(error).lower()
    if "does not support ssl" in text:
        return "connection", _fault("The database does not speak TLS.", "Switch TLS on there (ssl = on).")
    if any(word in text for word in _CERTIFICATE):
        return "connection", _fault(
            "The certificate of this host was refused.",
            "Check that host is spelled as in its certificate. If your own authority issued it, "
            "ask the operator of this service to add that to TRUSTED_CA_FILE.",
        )
    if any(word in text for word in _BROKEN_OFF):
        fix = "Check host and port, and that no firewall blocks them. " + _LATER
        return "connection", SourceFault("The host does not accept the connection.", fix=fix, cause="transient")
    if any(word in text for word in _BUSY):
        return "signed in", _busy()
    if "authentication method" in text:
        return "signed in", _fault(
            "The database does not ask for a password in a safe way.", "Set scram-sha-256 for this user in pg_hba.conf."
        )
    if "database" in text and "does not exist" in text:
        return "signed in", _fault("There is no database of this name.", "Check database.")
    if "permission denied" in text:
        return "signed in", _fault("The user may not connect to this database.", "Grant it CONNECT.")
    return "signed in", _fault("The database does not accept user and password.", _CREDENTIALS)


def _of_query(error: psycopg.Error) -> SourceFault:
    match error:
        case errors.InsufficientPrivilege():
            return _fault("The user may not read this.", "Grant it SELECT on what the query reads.", error)
        case errors.UndefinedTable() | errors.UndefinedColumn() | errors.AmbiguousColumn():
            return _fault(
                "The query names a table or column that is not there.",
                "Check query, and that cursor.column and cursor.id are among what it selects, each once.",
                error,
            )
        case errors.ReadOnlySqlTransaction():
            return _fault("The query changes something.", "Write a SELECT that only reads.", error)
        case errors.QueryCanceled() | errors.LockNotAvailable():
            return _fault(
                "The query takes too long.",
                "Create an index on cursor.column and cursor.id, and select these columns as they are.",
                error,
            )
        case _ if (error.sqlstate or "")[:2] in _BUSY_CLASSES:
            return _busy(error)
        case psycopg.OperationalError() if error.sqlstate is None:
            return SourceFault("The connection to the database broke.", fix=_LATER, cause="transient")
        case _:
            fix = "Run it as SELECT * FROM (the query) q, with the same user."
            return _fault("The query does not work.", fix, error)


def _fault(sentence: str, fix: str, error: psycopg.Error | None = None) -> SourceFault:
    return SourceFault(sentence, fix=fix, because=f"SQLSTATE {error.sqlstate}" if error else "")


def _busy(error: psycopg.Error | None = None) -> SourceFault:
    because = f"SQLSTATE {error.sqlstate}" if error else ""
    return SourceFault(
        "The database does not accept queries right now.", fix=_LATER, cause="transient", because=because
    )
