import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgedFunctions, rightFunctions } from "../../libraries/python-answers/test-programs.ts";
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

  /** The reward of a rollout that runs code and answers with its output. */
  const rewardOf = async (code: string) => {
    const jar = server.newJar();
    await server.seed({ expected_result: "6" }, jar);
    const { status, body } = await server.tool("execute_python", { code }, jar);
    expect(status).toBe(200);
    const output = String(body.result ?? body.stdout ?? "");
    const row = { expected_result: "6" };
    return (await server.verify(verifyBody(row, messageItem(`\\boxed{${output.trim()}}`)), jar)).body.reward;
  };

  // Sessions have few builtins, and functions of a session do not see its variables.
  const usable = rightFunctions("add").filter(([title]) => /^(sum|a lambda|printing)$/.test(title));
  it.each(usable)("rewards code that uses %s", async (_title, code) => {
    expect(await rewardOf(`${code}\nadd([1, 2, 3])`)).toBe(1);
  });

  it.each(forgedFunctions("add"))("does not reward code that forges by %s", async (_title, code) => {
    expect(await rewardOf(`${code}\nadd([1, 2, 3])`)).toBe(0);
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
