import { readFileSync } from "node:fs";
import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";

const rows = readFileSync(new URL("data/example.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

describe("swe_pivot", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  let graded: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app);
    graded = await createTestServer(app, { config: { reward_mode: "continuous" } });
  });
  afterAll(async () => {
    await server.close();
    await graded.close();
  });
  const verify = async (index: number, name: string, args: object, on = server) =>
    (await on.verify(verifyBody(rows[index], functionCallItem(name, args)))).body;

  it("rewards the expert's call, with any name of the tool", async () => {
    for (const [index, { expected_action }] of rows.entries()) {
      const args = JSON.parse(expected_action.arguments);
      expect((await verify(index, expected_action.name, args)).reward, expected_action.name).toBe(1);
    }
    expect((await verify(0, "Bash", { cmd: "grep -rn 'def parse_price' /repo/shop/" })).reward).toBe(1);
    expect((await verify(4, "submit", {})).reward).toBe(1);
  });

  it("reports the level at which another call fails", async () => {
    expect(await verify(0, "finish", {})).toMatchObject({ reward: 0, failure_reason: "tool_name_mismatch" });
    expect(await verify(0, "bash", { command: "ls /repo" })).toMatchObject({
      failure_reason: "target_mismatch",
    });
    const other = { command: "str_replace", path: "/repo/shop/prices.py", old_str: "x", new_str: "y" };
    expect(await verify(2, "edit", other)).toMatchObject({ failure_reason: "similarity_below_threshold" });
    const silent = await server.verify(verifyBody(rows[0], messageItem("I am done.")));
    expect(silent.body).toMatchObject({ reward: 0, failure_reason: "model_output_invalid" });
    const noRow = await server.verify(verifyBody({}, functionCallItem("bash", {})));
    expect(noRow.body).toMatchObject({ reward: 0, failure_reason: "expected_action_invalid" });
  });

  const compare = async (wanted: [string, unknown], given: [string, object], on = server) => {
    const row = { expected_action: { type: "function_call", name: wanted[0], arguments: wanted[1] } };
    return (await on.verify(verifyBody(row, functionCallItem(...given)))).body;
  };

  it.each([
    ["a path that is not a text", ["read_file", { path: "/a/b.py" }], ["read_file", { path: 5 }]],
    ["a call without a command", ["bash", { command: "ls" }], ["bash", {}]],
    ["a command where none is expected", ["bash", {}], ["bash", { command: "ls" }]],
    ["an edit without a command", ["edit", { command: "view", path: "/a" }], ["edit", { path: "/a" }]],
    ["another directory", ["read", { path: "a/./b.py" }], ["read", { path: "a/b.py" }]],
    [
      "other lines, as text",
      ["edit", { command: "view", path: "/a", view_range: [1, 50] }],
      ["edit", { command: "view", path: "/a", view_range: "[60, 90]" }],
    ],
  ] as [string, [string, object], [string, object]][])("gives nothing for %s", async (_, wanted, given) => {
    expect(await compare(wanted, given)).toMatchObject({ reward: 0, failure_reason: "target_mismatch" });
  });

  it.each(["null", "7", "true", '["path", "cmd"]', '"path"'])(
    "gives 0 for arguments that are not an object: %s",
    async (text) => {
      const item = { ...functionCallItem("read_file", {}), arguments: text };
      for (const name of ["read_file", "edit", "bash", "grep"]) {
        const expected_action = { type: "function_call", name, arguments: "{}" };
        const { body } = await server.verify(verifyBody({ expected_action }, { ...item, name }));
        expect(body, name).toMatchObject({ reward: 0, failure_reason: "unknown_error" });
      }
    },
  );

  it("reads arguments as Python does", async () => {
    const row = (args: string) => ({
      expected_action: { type: "function_call", name: "read_file", arguments: args },
    });
    const given = (text: string) => ({ ...functionCallItem("read_file", {}), arguments: text });
    const verdict = async (wanted: string, text: string) =>
      (await server.verify(verifyBody(row(wanted), given(text)))).body;
    expect(await verdict('{"path": "a.py"}', '{"path": NaN}')).toMatchObject({ reward: 0 });
    expect(await verdict('{"path": "a.py"}', '{"path": "a.py", "line": 1.0}')).toMatchObject({
      ...{ reward: 1, model_output: 'read_file({"path": "a.py", "line": 1.0})' },
    });
  });

  it("compares commands that are both absent as equal", async () => {
    expect((await compare(["bash", {}], ["bash", { command: " " }])).reward).toBe(1);
    const lenient = await createTestServer(app, { config: { enable_target_match: false } });
    expect(await compare(["bash", { command: "ls" }], ["bash", {}], lenient)).toMatchObject({
      similarity_score: 0,
      failure_reason: "similarity_below_threshold",
    });
    await lenient.close();
  });

  it("reports an expected action without a name as an unknown error", async () => {
    const row = { expected_action: { type: "function_call", arguments: {} } };
    const { body } = await server.verify(verifyBody(row, functionCallItem("bash", {})));
    expect(body).toMatchObject({ reward: 0, failure_reason: "unknown_error" });
  });

  it("gives partial rewards for similar text, and lower ones for long edits", async () => {
    const close = {
      ...{ command: "str_replace", path: "/repo/shop/prices.py" },
      old_str: "    return cents - cents * percent // 10",
      new_str: "    # Percent are hundredths.\n    return cents - cents * percent // 100",
    };
    const { reward, similarity_score, diff_size_penalty } = await verify(2, "edit", close, graded);
    expect(similarity_score).toBeGreaterThan(0.4);
    expect(similarity_score).toBeLessThan(0.8);
    expect(diff_size_penalty).toBeGreaterThan(0);
    expect(reward).toBeGreaterThan(0.5);
    expect(reward).toBeLessThan(1);
  });
});
