"""Calls the code of an answer, which runs in another sandbox. Needs harness.py and values.py before it.

Nothing of the answer runs here. What comes from there is a plain value, or the name and text of an error.
"""

# A call that switches its time limit off ends the answer after the time of this many calls.
_CALLS_AT_A_TIME = 32


class AnswerError(Exception):
    """An error of the answer that is not one of Python's own."""


class Answer:
    def __init__(self, channel):
        self._channel = channel

    def load(self, code, seconds, guard=False):
        """Raises the error of the code. With `guard`, the functions that the original removes are removed."""
        # Imports and the rest of the code have a time limit each.
        raise_error(self._ask({"code": code, "seconds": seconds, "guard": guard}, 2 * seconds))

    def call(self, name, arguments, seconds, keywords={}):
        (reply,) = self._calls([self._request(name, arguments, seconds, keywords)])
        return value_of(reply)

    def call_each(self, name, inputs, limits):
        """The reply to each call, for `value_of`."""
        calls = [self._request(name, arguments, seconds) for arguments, seconds in zip(inputs, limits)]
        for start in range(0, len(calls), _CALLS_AT_A_TIME):
            yield from self._calls(calls[start : start + _CALLS_AT_A_TIME])

    def _request(self, name, arguments, seconds, keywords={}):
        return {"name": name, "arguments": to_text([list(arguments), keywords]), "seconds": seconds}

    def _calls(self, calls):
        replies = self._ask({"calls": calls}, sum(each["seconds"] for each in calls))["replies"]
        if len(replies) != len(calls):
            raise AnswerError("the answer did not reply to each call")
        return replies

    def _ask(self, request, seconds):
        self._channel.send({"ask": request, "seconds": seconds})
        return self._channel.receive()["reply"]


def value_of(reply):
    raise_error(reply)
    return from_text(reply["value"])


def raise_error(reply):
    if "error" not in reply:
        return
    name, text = str(reply["error"]), str(reply["text"])
    if name == "TimeoutException":
        raise TimeoutException
    kind = getattr(builtins, name, None)
    # StopIteration would silently end a loop of the tests.
    own = isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, (StopIteration, UnicodeError))
    raise kind(text) if own else AnswerError(text)
