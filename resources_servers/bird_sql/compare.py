"""Equal as sets of rows: order and repetition do not count. Needs queries.py before it."""


def same(expected, actual, request):
    return set(expected) == set(actual)


channel = Channel()
channel.serve(handle)
