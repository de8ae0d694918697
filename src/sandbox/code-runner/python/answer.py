"""Loads the code of an answer and calls its functions. Needs harness.py and values.py before it; checks.py asks it."""

namespace = {"__name__": "solution"}
LONGEST_ERROR = 4000


def load(request):
    if request["guard"]:
        with TimeLimit(request["seconds"]):
            import_modules_of(request["code"])
        remove_dangerous_functions()
    with TimeLimit(request["seconds"]):
        exec(request["code"], namespace)
    return {}


def call(request):
    arguments, keywords = from_text(request["arguments"])
    with TimeLimit(request["seconds"]):
        return {"value": to_text(namespace[request["name"]](*arguments, **keywords))}


def attempt(function, request):
    try:
        return function(request)
    except BaseException as error:
        return {"error": type(error).__name__, "text": str(error)[:LONGEST_ERROR]}


def handle(request):
    if "code" in request:
        return attempt(load, request)
    return {"replies": [attempt(call, each) for each in request["calls"]]}


channel = Channel()
raise_stack_limit()
channel.serve(handle)
