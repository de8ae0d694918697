"""Computes the values of a submitted law. Needs harness.py before it."""

import importlib.util
import inspect
import math

# Formulas fail so where they have no value.
_WITHOUT_VALUE = (ArithmeticError, ValueError)


def number(value):
    """A value as JSON can hold it; None where there is none."""
    if isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c":
        value = abs(value)
    value = float(value)
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else "inf"


def law_of(code, parameters, uses_numpy):
    names = {"__name__": "law", "math": math}
    if uses_numpy:
        import numpy

        numpy.seterr(all="ignore")
        names.update(np=numpy, numpy=numpy)
    exec(code, names)
    law = names.get("discovered_law")
    if not callable(law) or list(inspect.signature(law).parameters) != parameters:
        return None
    return law


def values_of(law, points):
    values = []
    for point in points:
        try:
            values.append(number(law(*point)))
        except _WITHOUT_VALUE:
            values.append(None)
    return values


def handle(request):
    if "modules" in request:
        return {name: importlib.util.find_spec(name) is not None for name in request["modules"]}
    try:
        with TimeLimit(request["seconds"]):
            law = law_of(request["code"], request["parameters"], request["numpy"])
            if law is None:
                signature = ", ".join(request["parameters"])
                return {"invalid": f"The law is not a function discovered_law({signature})"}
            return {"values": values_of(law, request["points"])}
    except TimeoutException:
        return {"error": "The law took too long"}
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}"}


channel = Channel()
channel.serve(handle)
