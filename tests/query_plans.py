"""Query plans of the statements that some work runs, with the parameters that it passes."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection

_EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN", "postgresql": "EXPLAIN"}


def plans(work: Callable[[], Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield each query of `work` with the lines of its plan."""
    statements: dict[str, Any] = {}

    def keep(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().startswith(("SELECT", "WITH")):
            statements[sql] = parameters
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(keep):
        work()
    with connection.cursor() as cursor:
        for sql, parameters in statements.items():
            cursor.execute(f"{_EXPLAIN[connection.vendor]} {sql}", parameters)
            yield sql, [str(row[-1]) for row in cursor.fetchall()]
