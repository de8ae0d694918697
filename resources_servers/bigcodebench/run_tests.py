"""Runs the unit tests of a task against a program, as BigCodeBench does. Needs guard.py, harness.py and forked.py before it.

Tests patch and inspect the program, so both run in one process: a child of this one, which cannot reach its parent. The child
reports with a token, and `Guard` notices programs that change what the verdict depends on.
"""

import functools

LONGEST_DETAIL = 4000


def check_libraries():
    """The program may not replace functions that tests compare with."""
    for name in ("math", "numpy", "numpy.testing", "pandas", "pandas.testing"):
        for key, value in list(vars(sys.modules.get(name, types)).items()):
            if getattr(value, "__module__", None) == "__test__":
                raise Forged(f"the program changes {name}.{key}")


class Result(unittest.TestResult):
    def __init__(self, guard):
        super().__init__()
        self._guard = guard

    def startTest(self, test):
        super().startTest(test)
        self._guard.start_test(test)

    def stopTest(self, test):
        self._guard.check_test(test)
        check_libraries()
        super().stopTest(test)


def checked(function):
    """The function under test. It may not skip its tests."""

    @functools.wraps(function)
    def wrapper(*arguments, **keywords):
        try:
            value = function(*arguments, **keywords)
        except unittest.SkipTest as error:
            raise RuntimeError("the program skips its tests") from error
        refuse_forged_values(value)
        return value

    return wrapper


def run(request):
    guard = Guard()
    module = types.ModuleType("__test__")
    sys.modules["__test__"] = module
    # Separately, so that an unfinished text at the end of the program cannot contain the tests.
    exec(compile(request["code"], "__test__.py", "exec"), module.__dict__)
    guard.check()
    module.__dict__.pop("TestCases", None)
    name = request["entry_point"]
    function = getattr(module, name, None)
    if callable(function):
        function = without_result(function) if request["control"] else checked(function)
        setattr(module, name, function)
    exec(compile(request["test_code"], "__test__.py", "exec"), module.__dict__)
    guard.watch(module.TestCases)
    suite = unittest.TestLoader().loadTestsFromTestCase(module.TestCases)
    number = suite.countTestCases()
    result = Result(guard)
    # One failure is enough for a control run.
    result.failfast = request["control"]
    suite.run(result)
    guard.check()
    problems = result.failures + result.errors
    details = {test.id().split(".")[-1]: trace[-LONGEST_DETAIL:] for test, trace in problems}
    if number == 0 or result.testsRun != number:
        return {"status": "fail", "details": details or {"ALL": "no test was run"}}
    verdict = {"status": "fail" if problems else "pass", "details": details}
    return {**verdict, "called": function.called} if request["control"] else verdict


def report_of(request):
    try:
        with TimeLimit(request["seconds"]):
            return run(request)
    except TimeoutException:
        return {"status": "timeout", "details": {"reason": "time_limit"}}
    except BaseException as error:
        return {"status": "fail", "details": {"ALL": repr(error)[:LONGEST_DETAIL]}}


serve_from_child(report_of, with_control=True)
