import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
