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

describe.skipIf(skipWithoutBubblewrap)("math_with_code", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app, { config: { max_execution_time: 1 }, directory: here("./") });
  });
  afterAll(() => server.close());

  it("keeps the variables of a session separate from other sessions", async () => {
    const [one, two] = [server.newJar(), server.newJar()];
    await Promise.all([server.seed(rows[0], one), server.seed(rows[0], two)]);
    const run = async (code: string, jar = one) => (await server.tool("execute_python", { code }, jar)).body;
    await run("x = 6");
    expect(await run("print(x)\nx * 7")).toMatchObject({ success: true, stdout: "6\n", result: "42" });
    expect(await run("x", two)).toMatchObject({ success: false });
    expect(await run("while True: pass")).toMatchObject({ success: false, error_message: "code timed-out" });
    expect(await run("x")).toMatchObject({ result: "6" });
    expect(await run("import os\nos._exit(1)")).toMatchObject({ success: false });
    expect(await run("x")).toMatchObject({ success: false });
    expect((await server.tool("end_session", {}, one)).body).toMatchObject({ success: true });
  });

  it("rewards only the boxed answer of each example", async () => {
    const verify = async (row: Record<string, unknown>, text: string) =>
      (await server.verify(verifyBody(row, messageItem(text)), server.newJar())).body;
    const answers = ["42925", "168", "\\text{350687}", "648.0", "$4563$"];
    const bodies = await Promise.all(
      rows.map((row, index) => verify(row, `It is \\boxed{${answers[index]}}.`)),
    );
    expect(bodies.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1]);
    expect(await verify(rows[0], "It is 42925.")).toMatchObject({ reward: 0, extracted_answer: null });
    expect(await verify(rows[0], "It is \\boxed{42924}.")).toMatchObject({
      reward: 0,
      extracted_answer: "42924",
    });
  });
});
