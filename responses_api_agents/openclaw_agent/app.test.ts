import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Transcript } from "nemo-gym/agents";
import { expect, it } from "vitest";
import { readEvent } from "./app.ts";
import { sessionRunner } from "./session-runner.ts";

const events = [
  { type: "session", id: "gym" },
  { type: "message", message: { role: "user", content: [{ type: "text", text: "q" }] } },
  {
    type: "message",
    message: {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "toolCall", id: "c1", name: "exec", arguments: { command: "ls" } },
        { type: "toolCall", id: "c2", name: "exec", arguments: {} },
      ],
    },
  },
  {
    type: "message",
    message: { role: "toolResult", toolCallId: "c2", content: [{ type: "text", text: "two" }] },
  },
  {
    type: "message",
    message: { role: "assistant", content: [{ type: "text", text: "Done." }], errorMessage: "lost" },
  },
];
const result = {
  payloads: [{ text: "Done." }],
  meta: { agentMeta: { usage: { input: 5, output: 3, cacheRead: 2 } } },
};
const stdout = { type: "stdout", text: `{warning}\n${JSON.stringify(result, null, 2)}\n` };

it("converts the events of the session to items, usage and errors", () => {
  const transcript = new Transcript();
  for (const event of [...events, stdout]) readEvent(event, transcript);
  expect(transcript.finish()).toMatchObject([
    { type: "message", content: [{ text: "I look." }] },
    { type: "function_call", call_id: "c1", name: "exec", arguments: '{"command":"ls"}' },
    { type: "function_call", call_id: "c2" },
    { type: "function_call_output", call_id: "c2", output: "two" },
    { type: "message", content: [{ text: "Done." }] },
  ]);
  expect(transcript.usage).toMatchObject({ input_tokens: 7, output_tokens: 3, total_tokens: 10 });
  expect(transcript.errors).toEqual(["lost"]);
});

it("takes the answer from the result if there is no session", () => {
  const transcript = new Transcript();
  readEvent(stdout, transcript);
  expect(transcript.finish()).toMatchObject([{ type: "message", content: [{ text: "Done." }] }]);
});

const hasSqlite = process.getBuiltinModule?.("node:sqlite") !== undefined;
if (!hasSqlite) console.info("The reader of OpenClaw sessions is not tested: it needs Node 22.13.");

it.skipIf(!hasSqlite)("prints the events of a session that another process writes, and its output", () => {
  const home = mkdtempSync(path.join(os.tmpdir(), "openclaw-"));
  const folder = path.join(home, ".openclaw/agents/main/agent");
  mkdirSync(folder, { recursive: true });
  const script = path.join(home, "program.mjs");
  writeFileSync(path.join(home, "runner.mjs"), sessionRunner);
  writeFileSync(
    script,
    `import { DatabaseSync } from "node:sqlite";
    const database = new DatabaseSync(${JSON.stringify(`${folder}/openclaw-agent.sqlite`)});
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE transcript_events (session_id, seq, event_json)");
    const insert = database.prepare("INSERT INTO transcript_events VALUES (?, ?, ?)");
    insert.run("other", 0, "{}");
    for (const [seq, event] of ${JSON.stringify(events)}.entries()) insert.run("gym", seq, JSON.stringify(event));
    console.log("the end");
    process.exit(3);`,
  );
  const { stdout: lines, status } = spawnSync(
    process.execPath,
    [path.join(home, "runner.mjs"), script, "agent", "--agent", "main"],
    { env: { HOME: home }, encoding: "utf8" },
  );
  expect(status).toBe(3);
  const printed = lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(printed).toEqual([...events, { type: "stdout", text: "the end\n" }]);
});
