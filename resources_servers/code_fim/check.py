"""Runs a program with its tests, as HumanEval does. Needs harness.py before it."""


def handle(request):
    try:
        with TimeLimit(request["seconds"]):
            exec(request["code"], {"__name__": "solution"})
        return {"status": "passed"}
    except TimeoutException:
        return {"status": "timed out"}
    except BaseException as error:
        return {"status": f"failed: {error}"}


channel = Channel()
raise_stack_limit()
remove_dangerous_functions()
channel.serve(handle)
