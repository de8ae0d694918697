"""Every expected column must equal a column of the answer, as in Spider 2. Needs queries.py before it."""

import math


def same(expected, actual, request):
    """`expected` is a list of alternatives if it was given as rows, else the rows of a statement."""
    alternatives = expected if request["alternatives"] else [expected]
    columns = request["condition_cols"] or []
    if not any(isinstance(each, list) for each in columns):
        columns = [columns] * len(alternatives)
    return any(
        same_columns(rows, actual, chosen, request["ignore_order"]) for rows, chosen in zip(alternatives, columns)
    )


def same_columns(expected, actual, chosen, ignore_order):
    if not expected or not actual:
        return not expected and not actual
    wanted = list(zip(*expected))
    picked = [wanted[index] for index in chosen if index < len(wanted)]
    given = [prepared(column, ignore_order) for column in zip(*actual)]
    return all(
        any(equal_columns(prepared(column, ignore_order), other) for other in given) for column in picked or wanted
    )


def prepared(column, ignore_order):
    values = [plain(value) for value in column]
    return sorted(values, key=str) if ignore_order else values


def plain(value):
    """Texts of numbers become numbers; null and NaN become 0."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                value = kind(value)
                break
            except ValueError:
                pass
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return 0
    return value


def equal_columns(first, second):
    return len(first) == len(second) and all(map(equal_values, first, second))


def equal_values(first, second):
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-2)
    return first == second


channel = Channel()
channel.serve(handle)
