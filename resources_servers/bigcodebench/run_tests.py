"""Runs the unit tests of a task against a program, as BigCodeBench does. Needs harness.py before it."""

import types
import unittest

LONGEST_DETAIL = 4000


def handle(request):
    try:
        with TimeLimit(request["seconds"]):
            module = types.ModuleType("__test__")
            sys.modules["__test__"] = module
            exec(compile(request["code"] + "\n" + request["test_code"], "__test__.py", "exec"), module.__dict__)
            suite = unittest.TestLoader().loadTestsFromTestCase(module.TestCases)
            result = unittest.TestResult()
            suite.run(result)
    except TimeoutException:
        return {"status": "timeout", "details": {"reason": "time_limit"}}
    except BaseException as error:
        return {"status": "fail", "details": {"ALL": repr(error)[:LONGEST_DETAIL]}}
    problems = result.failures + result.errors
    details = {test.id().split(".")[-1]: trace[-LONGEST_DETAIL:] for test, trace in problems}
    return {"status": "fail" if problems or result.testsRun == 0 else "pass", "details": details}


channel = Channel()
channel.serve(handle)
