import { readFileSync } from "node:fs";
import {
  createTestServer,
  functionCallItem,
  messageItem,
  type TestServer,
  verifyBody,
} from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";
import { CATEGORIES } from "./categories.ts";

const rowsOf = (file: string) =>
  readFileSync(new URL(`data/${file}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("terminal_multi_harness", () => {
  let server: TestServer;
  beforeAll(async () => {
    const config = { tool_call_comparator_config: { string_similarity_threshold: 0.9 } };
    server = await createTestServer(app, { config });
  });
  afterAll(() => server.close());

  const tool = (name: string, properties: object) => ({
    ...{ type: "function", name, strict: false },
    parameters: { type: "object", properties },
  });
  const compare = async (harness: string, name: string, wanted: object, given: object | string) => {
    const schema = Object.fromEntries(Object.keys(wanted).map((key) => [key, {}]));
    const row = {
      harness,
      expected_action: { type: "function_call", name, arguments: JSON.stringify(wanted) },
      declared_tools: [tool(name, { ...schema, paths: { type: "array" } })],
    };
    return (await server.verify(verifyBody(row, functionCallItem(name, given)))).body;
  };

  it.each(["example", "agent006_example", "opencode_example", "stirrup_example"])(
    "rewards the expert's steps of %s",
    async (file) => {
      for (const row of rowsOf(file)) {
        const { type, content, calls, name, arguments: text } = row.expected_action;
        const made = type === "function_call" ? [{ name, arguments: text }] : (calls ?? []);
        const items =
          type === "message"
            ? [messageItem(content)]
            : made.map((call: { name: string; arguments: string }) =>
                functionCallItem(call.name, JSON.parse(call.arguments)),
              );
        expect((await server.verify(verifyBody(row, ...items))).body.reward, row.uuid).toBe(1);
      }
    },
  );

  it.each([
    ["codex", "exec_command", { cmd: "ls -la /workspace" }, { cmd: "ls -la /workspace\r\n" }, 1],
    ["codex", "exec_command", { cmd: "ls -la /workspace" }, { cmd: "rm -rf /workspace" }, 0],
    ["codex", "update_plan", { plan: [1] }, { plan: [] }, 0],
    ["agent006", "execute_python", { code: "print(1)" }, { code: " " }, 0],
    ["agent006", "return_result", { result: { b: 1, a: "é" } }, { result: { a: "é", b: 1 } }, 1],
    ["opencode", "read", { filePath: "/a", offset: 1 }, { filePath: "/a" }, 1],
    [
      "opencode",
      "edit",
      { filePath: "/a", oldString: "x", newString: "y" },
      { filePath: "/a", oldString: "q", newString: "q" },
      0,
    ],
    [
      "opencode",
      "todowrite",
      { todos: [{ status: "p", priority: "h" }] },
      { todos: [{ status: "p", priority: "l" }] },
      0,
    ],
    ["opencode", "todowrite", { todos: [] }, { todos: [] }, 1],
    ["stirrup", "fetch_web_page", { url: "http://x.example/a" }, { url: "HTTP://x.example/a " }, 1],
    ["stirrup", "finish", { reason: "done", paths: ["a", "b"] }, { reason: "Done", paths: '["b", "a "]' }, 1],
    ["stirrup", "finish", { reason: "done", paths: ["a"] }, { reason: "done", paths: ["b"] }, 0],
    ["other", "anything", { x: 1 }, { x: 2 }, 1],
  ])("compares %s %s %j with %j", async (harness, name, wanted, given, reward) => {
    expect((await compare(harness, name, wanted, given)).reward).toBe(reward);
  });

  it("says why a call does not match", async () => {
    const wanted = { cmd: "pwd" };
    const reason = async (given: object | string) =>
      (await compare("codex", "exec_command", wanted, given)).category;
    expect(await reason({ cmd: "pwd", workdir: "/" })).toBe(CATEGORIES.unexpectedArgumentKeys);
    expect(await reason({})).toBe(CATEGORIES.execCommandMissingCmd);
    expect(await reason("[1]")).toBe(CATEGORIES.argumentsNotObject);
    expect(await reason("{")).toBe(CATEGORIES.argumentsDecodeError);
  });

  it("does not find a match for a call that no one declared, a message or nothing", async () => {
    const row = { harness: "codex", expected_action: { type: "function_call", name: "f", arguments: "{}" } };
    const verify = async (...items: object[]) => (await server.verify(verifyBody(row, ...items))).body;
    expect(await verify(functionCallItem("f", {}))).toMatchObject({
      category: CATEGORIES.toolSchemaNotFound,
    });
    expect(await verify(messageItem("hi"))).toMatchObject({ category: CATEGORIES.actionTypeMismatch });
    expect(await verify()).toMatchObject({ reward: 0, category: CATEGORIES.noActionFound });
  });
});
