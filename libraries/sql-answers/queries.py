"""Runs the queries of a task on a SQLite database. Needs harness.py before it, and a function `same(expected, actual, request)` after it.

The database stays as it is: a statement that writes runs on a copy in memory.
"""

import sqlite3
import time
from urllib.parse import quote

STEPS_BETWEEN_CHECKS = 10_000


def query(request):
    """All rows of one statement."""
    if request.get("missing_is_empty") and not os.path.exists(request["database"]):
        return rows_of(sqlite3.connect(":memory:"), request)
    connection = sqlite3.connect(f"file:{quote(request['database'])}?mode=ro&immutable=1", uri=True)
    try:
        return rows_of(connection, request)
    except sqlite3.OperationalError as error:
        if "readonly" not in str(error):
            raise
    copy = sqlite3.connect(":memory:")
    connection.backup(copy)
    return rows_of(copy, request)


def rows_of(connection, request):
    # As in the original, bytes of a text that are not UTF-8 are dropped.
    connection.text_factory = lambda content: content.decode("utf-8", "ignore")
    deadline = time.monotonic() + request["seconds"]
    connection.set_progress_handler(lambda: time.monotonic() > deadline, STEPS_BETWEEN_CHECKS)
    try:
        return connection.execute(request["sql"]).fetchall()
    except sqlite3.OperationalError as error:
        if str(error) == "interrupted":
            raise TimeoutException from error
        raise


expected = None


def handle(request):
    """First the expected rows (`expect`), or a statement that returns them; then the statement of the answer."""
    global expected
    try:
        if "expect" in request:
            expected = request["expect"]
        elif request["is_expected"]:
            expected = query(request)
        else:
            return {"status": "done", "same": same(expected, query(request), request)}
        return {"status": "done"}
    except TimeoutException:
        return {"status": "timeout"}
    except sqlite3.OperationalError as error:
        return {"status": "unopened" if str(error) == "unable to open database file" else "error"}
    except Exception:
        return {"status": "error"}
