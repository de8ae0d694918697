import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Row } from "../../records/files/jsonl-rows.ts";
import type { ServerReply } from "../../servers/calls/server-client.ts";
import { checkRows } from "./check-rows.ts";
import { expandRows } from "./expand.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "check-rows-"));
});
afterEach(() => rm(directory, { recursive: true }));

/** Replies of agents by name; rejects rows with `bad`. */
function clientOf(statuses: Record<string, number>, reply?: () => unknown) {
  const asked: number[] = [];
  const post = async (agent: string, _path: string, body: unknown): Promise<ServerReply> => {
    const status = statuses[agent] ?? 404;
    if (status === 0) throw new Error("no connection");
    const { rows } = body as { rows: Row[] };
    asked.push(rows.length);
    const problems = rows.flatMap((row, index) => (row["bad"] ? [{ index, problems: ["it is bad"] }] : []));
    return { status, ok: status === 200, json: reply ?? (() => ({ problems })) } as unknown as ServerReply;
  };
  return { client: { post }, asked };
}

async function check(rows: object[], statuses: Record<string, number>, repeats = 1, reply?: () => unknown) {
  const inputPath = path.join(directory, "rows.jsonl");
  const lines = rows.map((row) => JSON.stringify({ responses_create_params: { input: "?" }, ...row }));
  await writeFile(inputPath, lines.join("\n"));
  const expand = { inputPath, agentName: "agent", knownAgents: Object.keys(statuses), repeats };
  const { client, asked } = clientOf(statuses, reply);
  const notices: string[] = [];
  const error = await checkRows(expandRows(expand), {
    client,
    expand,
    onNotice: (text) => notices.push(text),
  }).then(
    () => undefined,
    (problem: Error) => problem.message.replaceAll(directory, ""),
  );
  return { error, asked, notices };
}

describe("checkRows", () => {
  it("rejects a run with the lines of all invalid rows, with one request per task", async () => {
    const rows = Array.from({ length: 40 }, (_, id) => ({ id, bad: id === 3 || id === 38 }));
    const { error, asked } = await check(rows, { agent: 200 }, 4);
    expect(error).toMatch(
      /^2 of 40 tasks do not fit the environment; no model was called:\n {2}- \/rows.jsonl:4: it is bad\n {2}- \/rows.jsonl:39: it is bad\n/,
    );
    expect(asked.reduce((sum, count) => sum + count)).toBe(40);
  });

  it("skips agents without the check, and stops when no other is left", async () => {
    const rows = Array.from({ length: 40 }, (_, id) => ({ id, bad: true }));
    const silent = await check(rows, { agent: 404 });
    expect(silent).toEqual({ error: undefined, asked: [1], notices: [] });
    const broken = await check(rows, { agent: 500 });
    expect(broken.notices).toEqual(["The rows of 'agent' are not checked: POST /check_rows answered 500."]);
    const away = await check(rows, { agent: 0 });
    expect(away.notices).toEqual(["The rows of 'agent' are not checked: no connection"]);
    for (const reply of [{}, null, "ok", { problems: [{}] }]) {
      const foreign = await check(rows, { agent: 200 }, 1, () => reply);
      expect(foreign.error).toBeUndefined();
      expect(foreign.notices).toEqual([
        "The rows of 'agent' are not checked: POST /check_rows answered without a list 'problems'.",
      ]);
    }
    const mixed = await check(
      [{ agent_ref: { name: "python" } }, { agent_ref: { name: "agent" }, bad: true }],
      { agent: 200, python: 404 },
    );
    expect(mixed.error).toContain("rows.jsonl:2");
  });

  it("names at most ten tasks", async () => {
    const { error } = await check(
      Array.from({ length: 30 }, (_, id) => ({ id, bad: true })),
      { agent: 200 },
    );
    expect(error).toContain("… and 20 more");
  });
});
