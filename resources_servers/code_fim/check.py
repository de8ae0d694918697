"""Runs the tests of a problem against a program, as HumanEval does. Needs checks.py before it."""

import ast
import time


def beginning(prompt):
    """The longest beginning of a prompt that is a program: imports and helper functions that the tests may use."""
    lines = prompt.split("\n")
    for end in range(len(lines), 0, -1):
        try:
            text = "\n".join(lines[:end])
            ast.parse(text)
            return text
        except SyntaxError:
            pass
    return ""


def names_in(code):
    """All names that a code object and the functions in it use."""
    inner = [each for each in code.co_consts if hasattr(each, "co_names")]
    return set(code.co_names).union(*map(names_in, inner))


def run(request):
    deadline = time.monotonic() + request["seconds"]

    def remote(name):
        def call(*arguments, **keywords):
            return answer.call(name, arguments, max(deadline - time.monotonic(), 0.001), keywords)

        return call

    answer.load(request["code"], request["seconds"], guard=True)
    test = compile(request["test"], "test", "exec")
    namespace = {name: remote(name) for name in names_in(test) if not hasattr(builtins, name)}
    namespace["__name__"] = "solution"
    exec(beginning(request["prompt"]), namespace)
    exec(test, namespace)
    namespace["check"](remote(request["entry_point"]))


def handle(request):
    try:
        run(request)
        return {"status": "passed"}
    except TimeoutException:
        return {"status": "timed out"}
    except BaseException as error:
        return {"status": f"failed: {error}"}


channel = Channel()
answer = Answer(channel)
raise_stack_limit()
channel.serve(handle)
