"""Prints the targets of one step as JSON: python3 read_targets.py FILE STEP COUNT. The file is data of the benchmark, not of a model."""
import base64
import json
import sys

import h5py
import numpy as np


def encoded_array(value):
    value = np.asarray(value)
    if value.dtype.kind == "O":
        return {"texts": [text(item) for item in value.ravel()], "shape": list(value.shape)}
    data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    return {"data": data, "dtype": value.dtype.str, "shape": list(value.shape)}


def text(item):
    return item.decode("utf-8", "strict") if isinstance(item, bytes) else str(item)


def encoded(node):
    if isinstance(node, h5py.Dataset):
        value = node[()]
        return {"text": text(value)} if isinstance(value, (bytes, str)) else encoded_array(value)
    if "list" in node:
        return {"list": [encoded(node["list"][key]) for key in node["list"]]}
    if "sparse_matrix" in node:
        return {"sparse": {key: encoded_array(node["sparse_matrix"][key][()]) for key in node["sparse_matrix"]}}
    return {"dict": [[key, encoded(node[key])] for key in node]}


def target(file, path):
    if path not in file:
        return None
    values = [encoded(file[path][key]) for key in file[path]]
    return values[0] if len(values) == 1 else {"tuple": values}


path, step, count = sys.argv[1:]
with h5py.File(path, "r") as file:
    json.dump([target(file, f"{step}/test{number + 1}") for number in range(int(count))], sys.stdout)
