"""Runs the check of a task against a program. Needs guard.py, harness.py and forked.py before it."""

import functools

LONGEST_MESSAGE = 500
MODULE = "__scicodepile__"
# Defined in the module of the program, because tests change the globals of the function that they get.
WRAPPER = """
def __checked__(function, wraps, refuse):
    @wraps(function)
    def wrapper(*arguments, **keywords):
        value = function(*arguments, **keywords)
        refuse(value)
        return value
    return wrapper
"""


def described(error):
    return {"type": type(error).__name__, "message": str(error)[:LONGEST_MESSAGE]}


class Faulty(Exception):
    def __init__(self, details):
        self.details = details


def run_part(phase, code, namespace):
    """Parts are separate, so that an unfinished text at the end of the program cannot contain the test."""
    fault = {} if phase == "model" else {"harness_fault": True}
    try:
        compiled = compile(code, f"<{phase}>", "exec")
    except (SyntaxError, ValueError) as error:
        raise Faulty({"reason": "syntax_error", "phase": phase, **described(error), **fault})
    try:
        exec(compiled, namespace)
    except TimeoutException:
        raise
    except BaseException as error:
        raise Faulty({"reason": "exec_failed", "phase": phase, **described(error), **fault})


def run(request):
    guard = Guard()
    module = types.ModuleType(MODULE)
    sys.modules[MODULE] = module
    namespace = module.__dict__
    run_part("setup", request["setup_code"], namespace)
    run_part("model", request["code"], namespace)
    guard.check()
    name = request["entry_point"]
    candidate = namespace.get(name)
    if candidate is None:
        return {"status": "entry_point_missing", "details": {"entry_point": name}}
    namespace.pop("check", None)
    run_part("test", request["test"], namespace)
    check = namespace.get("check")
    if not callable(check):
        raise Faulty({"reason": "test_defines_no_check", "phase": "test", "harness_fault": True})
    if request["control"]:
        candidate = without_result(candidate)
    elif isinstance(candidate, types.FunctionType):
        exec(WRAPPER, namespace)
        candidate = namespace.pop("__checked__")(candidate, functools.wraps, refuse_forged_values)
    try:
        check(candidate)
        guard.check()
    except TimeoutException:
        raise
    except BaseException as error:
        return {"status": "fail", "details": described(error)}
    passed = {"status": "pass", "details": {}}
    return {**passed, "called": candidate.called} if request["control"] else passed


def report_of(request):
    try:
        with TimeLimit(request["seconds"]):
            return run(request)
    except TimeoutException:
        return {"status": "timeout", "details": {"reason": "subprocess_timeout"}}
    except Faulty as error:
        return {"status": "error", "details": error.details}
    except BaseException as error:
        return {"status": "error", "details": {"reason": "exec_failed", "phase": "model", **described(error)}}


serve_from_child(report_of, with_control=True)
