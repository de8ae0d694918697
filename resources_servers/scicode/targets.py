def _gym_targets(text):
    """The targets of the tests, as read_targets.py has written them."""
    import base64
    import json

    import numpy as np

    def array(node):
        if "texts" in node:
            return np.array(node["texts"], dtype=object).reshape(node["shape"])
        values = np.frombuffer(base64.b64decode(node["data"]), dtype=node["dtype"])
        return values.reshape(node["shape"]).copy()[()]

    def key(name):
        try:
            return float(name)
        except ValueError:
            return name

    def sparse(parts):
        import scipy.sparse

        parts = {name: array(node) for name, node in parts.items()}
        shape = tuple(int(size) for size in parts["shape"])
        if "row" in parts:
            return scipy.sparse.coo_matrix((parts["data"], (parts["row"], parts["col"])), shape=shape)
        entries = (parts["data"], parts["indices"], parts["indptr"])
        if "blocksize" in parts:
            return scipy.sparse.bsr_matrix(entries, shape=shape, blocksize=tuple(int(size) for size in parts["blocksize"]))
        return scipy.sparse.csr_matrix(entries, shape=shape)

    def value(node):
        if "text" in node:
            return node["text"]
        if "tuple" in node:
            return tuple(value(item) for item in node["tuple"])
        if "list" in node:
            return [value(item) for item in node["list"]]
        if "dict" in node:
            return {key(name): value(item) for name, item in node["dict"]}
        return sparse(node["sparse"]) if "sparse" in node else array(node)

    return [value(node) for node in json.loads(base64.b64decode(text))]


def _gym_is_close(found, wanted, **tolerance):
    import numpy as np

    if isinstance(wanted, dict):
        return are_dicts_close(found, wanted, **tolerance)
    if hasattr(wanted, "tocsc"):
        return are_csc_matrix_close(found, wanted)
    if isinstance(wanted, (str, bool, np.bool_)):
        return found == wanted
    if isinstance(wanted, (list, tuple)):
        return cmp_tuple_or_list(found, wanted)
    return np.allclose(found, wanted, **tolerance)


def cmp_tuple_or_list(found, wanted):
    """Whether two sequences have close values at each place."""
    return len(found) == len(wanted) and all(bool(_gym_is_close(a, b)) for a, b in zip(found, wanted))


def are_dicts_close(found, wanted, atol=1e-8, rtol=1e-5):
    """Whether two mappings have the same keys with close values; symbols count as their names."""

    def plain(item):
        return str(item) if type(item).__module__.startswith("sympy") else item

    found = {plain(name): plain(item) for name, item in found.items()}
    wanted = {plain(name): plain(item) for name, item in wanted.items()}
    if found.keys() != wanted.keys():
        return False
    return all(bool(_gym_is_close(found[name], wanted[name], atol=atol, rtol=rtol)) for name in wanted)


def are_csc_matrix_close(found, wanted):
    """Whether two sparse matrices have close values."""
    import numpy as np

    found, wanted = found.tocsc(), wanted.tocsc()
    if found.shape != wanted.shape:
        return False
    # Entries of either matrix; all others are zero in both.
    rows, columns = (abs(found) + abs(wanted)).nonzero()
    return np.allclose(np.asarray(found[rows, columns]), np.asarray(wanted[rows, columns]))
