import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgedFunctions } from "../../libraries/python-answers/test-programs.ts";
import app from "./app.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const rows = readFileSync(here("data/example.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const block = (code: string) => messageItem(`Here:\n\`\`\`python\n${code}\n\`\`\``);

const grids = ["0 5\n7 0", "6\n7", "2 0 2"].map((grid) => messageItem(`It is \\boxed{${grid}}`));
const programs = [
  "def transform(grid):\n    return [[c for c in row for _ in (0, 1)] for row in grid for _ in (0, 1)]",
  "def transform(grid):\n    return grid[::-1]",
].map(block);

describe.skipIf(skipWithoutBubblewrap)("nvarc", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app, { config: { python_timeout_seconds: 1 }, directory: here("./") });
  });
  afterAll(() => server.close());
  const verify = async (index: number, item: ReturnType<typeof messageItem>) =>
    (await server.verify(verifyBody(rows[index], item))).body;

  it("reads grids, and runs programs that return grids", async () => {
    const bodies = await Promise.all([...grids, ...programs].map((item, index) => verify(index, item)));
    expect(bodies.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1]);
    expect(bodies.map(({ agent_mode }) => agent_mode)).toEqual([
      ...Array(3).fill("transductive"),
      ...Array(2).fill("inductive"),
    ]);
  });

  const plusOne = "[[cell + 1 for cell in row] for row in grid]";
  const right: Record<string, string> = {
    "a loop": `def transform(grid):
    result = [row[:] for row in grid]
    for row in result:
        for index in range(len(row)):
            row[index] += 1
    return result`,
    "a lambda": `transform = lambda grid: ${plusOne}`,
    types: `from typing import List\ndef transform(grid: List[List[int]]) -> List[List[int]]:\n    return ${plusOne}`,
    "deep recursion": `import sys
sys.setrecursionlimit(10 ** 6)
def depth(number):
    return 0 if number == 0 else 1 + depth(number - 1)
def transform(grid):
    assert depth(20000) == 20000
    return ${plusOne}`,
    "collections, copy, functools, itertools and math": `import collections, copy, functools, heapq, itertools, math, re
def transform(grid):
    grid = copy.deepcopy(grid)
    return ${plusOne}`,
    "io, inspect and gc": `import gc, inspect, io\ndef transform(grid):\n    return ${plusOne}`,
    eval: `def transform(grid):\n    return eval("${plusOne}", {"grid": grid})`,
    exec: `def transform(grid):\n    names = {"grid": grid}\n    exec("result = ${plusOne}", names)\n    return names["result"]`,
    "a main guard": `if __name__ == "__main__":\n    def transform(grid):\n        return ${plusOne}`,
    "named tuples": `from collections import namedtuple
Cell = namedtuple("Cell", "value")
def transform(grid):
    return [[Cell(cell).value + 1 for cell in row] for row in grid]`,
    "an import that fails": `try:\n    import os\nexcept ImportError:\n    os = None\ndef transform(grid):\n    return ${plusOne}`,
    "an optional numpy": `try:
    import numpy as np
    transform = lambda grid: (np.array(grid) + 1).astype(np.uint8)
except ImportError:
    transform = lambda grid: ${plusOne}`,
    tuples: `def transform(grid):\n    return tuple(tuple(row) for row in ${plusOne})`,
    "floats without fraction": `def transform(grid):\n    return [[float(cell) for cell in row] for row in ${plusOne}]`,
    printing: `def transform(grid):\n    print(grid)\n    return ${plusOne}`,
    "the grid in place": `def transform(grid):
    for row in grid:
        row[:] = [cell + 1 for cell in row]
    return grid`,
  };
  const row = {
    agent_mode: "inductive",
    test_input: [
      [1, 2],
      [3, 4],
    ],
    expected_output: [
      [2, 3],
      [4, 5],
    ],
  };
  it.each(Object.entries(right))("rewards a program with %s", async (_title, code) => {
    expect((await server.verify(verifyBody(row, block(code)))).body).toMatchObject({ reward: 1 });
  });

  it.each(forgedFunctions("transform"))(
    "does not reward a program that forges by %s",
    async (_title, code) => {
      expect(await server.verify(verifyBody(row, block(code)))).toMatchObject({
        status: 200,
        body: { reward: 0 },
      });
    },
  );

  it("gives 0 for programs that are slow, harmful or return no grid", async () => {
    for (const code of [
      "def transform(grid):\n    while True: pass",
      "import os\ndef transform(grid):\n    return grid",
      "def transform(grid):\n    return [[1.5]]",
      "def transform(grid):\n    return [[1], [2, 3]]",
    ])
      expect(await verify(4, block(code)), code).toMatchObject({ reward: 0, predicted_output: null });
  });
});
