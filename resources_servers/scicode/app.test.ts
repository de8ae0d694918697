import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const PYTHON = "/usr/bin/python3";
const skipWithoutPackages = spawnSync(PYTHON, ["-c", "import numpy, scipy, h5py"]).status !== 0;
if (skipWithoutPackages) console.warn(`scicode: skipped, ${PYTHON} has no numpy, scipy and h5py`);

describe.skipIf(skipWithoutBubblewrap || skipWithoutPackages)("scicode", () => {
  const [row] = readFileSync(here("data/example.jsonl"), "utf8")
    .split("\n")
    .map((line) => JSON.parse(line || "{}"));
  const start = (config: Record<string, unknown> = {}) =>
    createTestServer(app, {
      config: { test_data_fpath: here("data/example.h5"), data_python: PYTHON, timeout_secs: 10, ...config },
      directory: here("./"),
    });
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());
  const trapezoid =
    "import numpy as np\ndef trapezoid(f, a, b, n):\n    x = np.linspace(a, b, n)\n    y = f(x)\n    return (x[1] - x[0]) * (y.sum() - (y[0] + y[-1]) / 2)\n";
  const body = (solutions: object, changed = {}) =>
    verifyBody({ ...row, solutions, ...changed }, messageItem(""));

  it("counts the steps with code", async () => {
    const { body: result } = await server.verify(
      body({ "e1.1": trapezoid, "e1.2": `${trapezoid}def refine(*a): return 1, 2` }),
    );
    expect(result).toMatchObject({
      reward: 0,
      step_results: [true, false],
      subtask_accuracy: 0.5,
      problem_id: "e1",
    });
    expect(result).not.toHaveProperty("solutions");
    expect((await server.verify(body({ "e1.1": trapezoid }))).body).toMatchObject({
      reward: 1,
      num_steps_total: 1,
    });
  });

  it.each([
    ["ends the process with 0", "import os\nos._exit(0)"],
    ["raises SystemExit", "raise SystemExit(0)"],
    ["ran out of context", "_ran_out_of_context_"],
  ])("does not reward code that %s", async (_title, code) => {
    expect((await server.verify(body({ "e1.1": code }))).body).toMatchObject({ reward: 0 });
  });

  it("accepts an early end with exit_code_only, as the original does", async () => {
    const lenient = await start({ exit_code_only: true });
    expect((await lenient.verify(body({ "e1.1": "raise SystemExit(0)" }))).body).toMatchObject({ reward: 1 });
    await lenient.close();
  });

  it("fails without a score if the expected values cannot be read", async () => {
    const broken = await start({ data_python: "/does/not/exist" });
    const reply = await broken.verify(body({ "e1.1": trapezoid }));
    expect(reply.status).toBe(500);
    expect(JSON.stringify(reply.body)).toContain("cannot be read");
    await broken.close();
  });
});
