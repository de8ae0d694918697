import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Row } from "../../records/files/jsonl-rows.ts";
import type { ServerClient, ServerReply } from "../../servers/calls/server-client.ts";
import { unsafeServers } from "./reverify.ts";
import { ReverifyPlan } from "./reverify-plan.ts";
import { checkOutput, type ExistingOutput, scoreAgain } from "./score-again.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "reverify-"));
});
afterEach(() => rm(directory, { recursive: true }));

const at = (name: string) => join(directory, name);
const write = (name: string, rows: Row[]) =>
  writeFile(at(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const rows = async (name: string) =>
  (await readFile(at(name), "utf8"))
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);

const key = (task: number, rollout = 0) => ({
  agent_ref: { name: "agent" },
  _ng_task_index: task,
  _ng_rollout_index: rollout,
});
const input = (task: number): Row => ({ expected: `answer ${task}`, ...key(task) });
const stored = (task: number, more: Row = {}): Row => ({
  response: { output: `response ${task}` },
  reward: 0,
  old: true,
  ...key(task),
  ...more,
});

type Handler = (server: string, path: string, body: Row) => { status?: number; body: unknown };

function clientOf(handler: Handler): ServerClient {
  const call = async (server: string, path: string, body: unknown): Promise<ServerReply> => {
    const { status = 200, body: answer } = handler(server, path, body as Row);
    const text = JSON.stringify(answer);
    return {
      status,
      ok: status < 400,
      cookies: {},
      json: () => JSON.parse(text) as unknown,
      text: () => text,
      payload: () => ({ raw: text }),
    };
  };
  return { post: call, get: (server, path) => call(server, path, undefined), baseUrl: (server) => server };
}

async function run(
  handler: Handler,
  more: { existing?: ExistingOutput; judgeFailedOnly?: boolean; limit?: number; output?: string } = {},
) {
  const sources = {
    materializedInputsPath: at("in.jsonl"),
    rolloutsPath: at("run.jsonl"),
    judgeFailedOnly: more.judgeFailedOnly ?? false,
    limit: more.limit,
  };
  return scoreAgain({
    client: clientOf(handler),
    sources,
    plan: await ReverifyPlan.make(sources),
    output: at(more.output ?? "out.jsonl"),
    existing: more.existing ?? "fresh",
    serverOf: (agent) => `${agent}-verifier`,
    limits: { concurrency: 4, maxAttempts: 1, rolloutTimeoutMs: null, runTimeoutMs: null },
    config: {},
    gymVersion: "test",
    aggregate: false,
    onEvent: () => {},
  });
}

const scored: Handler = (_server, _path, body) => ({ body: { ...body, reward: 1 } });

describe("reverify", () => {
  it("sends the input row with the stored response to the verifier of the agent", async () => {
    await write("in.jsonl", [input(0), input(1)]);
    await write("run.jsonl", [stored(1), stored(0)]);
    const calls: unknown[] = [];
    const { result } = await run((server, path, body) => {
      calls.push([server, path, body]);
      return { body: { reward: 0.5, response: body["response"] } };
    });
    expect(result).toMatchObject({ completed: 2, failed: 0 });
    expect(calls).toContainEqual([
      "agent-verifier",
      "/verify",
      { ...input(1), response: { output: "response 1" } },
    ]);
    expect(await rows("out.jsonl")).toContainEqual({
      reward: 0.5,
      response: { output: "response 0" },
      _ng_task_index: 0,
      _ng_rollout_index: 0,
      agent_ref: { name: "agent" },
      _ng_timing: {
        started_at: expect.any(String),
        seconds: expect.any(Number),
        verify: { at: 0, seconds: expect.any(Number) },
      },
    });
  });

  it("writes failures to the failures file without an attempt index and continues", async () => {
    await write("in.jsonl", [input(0), input(1)]);
    await write("run.jsonl", [stored(0), stored(1)]);
    const { result } = await run((server, path, body) =>
      body["_ng_task_index"] === 0
        ? { status: 500, body: { error: { class: "verifier_error", retryable: false, message: "broken" } } }
        : scored(server, path, body),
    );
    expect(result).toMatchObject({ completed: 1, failed: 1 });
    const [failure] = await rows("out_failures.jsonl");
    expect(failure).toMatchObject({
      _ng_failure_class: "verifier_error",
      _ng_failure: { stage: "verify", message: "broken" },
      response: { output: "response 0" },
    });
    expect(failure).not.toHaveProperty("_ng_attempt_index");
  });

  it("resumes without finished, terminal and exhausted rollouts", async () => {
    await write("in.jsonl", [input(0), input(1), input(2), input(3)]);
    await write("run.jsonl", [stored(0), stored(1), stored(2), stored(3)]);
    await write("out.jsonl", [{ reward: 1, ...key(0) }]);
    await write("out_failures.jsonl", [{ ...key(1), _ng_failure_terminal: true }, key(2)]);
    const { result } = await run(scored, { existing: "resume" });
    expect(result.completed).toBe(1);
    expect((await rows("out.jsonl")).map((row) => row["_ng_task_index"])).toEqual([0, 3]);
  });

  it("rejects a resume with other stored rollouts", async () => {
    await write("in.jsonl", [input(0)]);
    await write("run.jsonl", [stored(0)]);
    await run(scored);
    await write("run.jsonl", [stored(0, { more: 1 })]);
    await expect(run(scored, { existing: "resume" })).rejects.toThrow(
      /belongs to another run[\s\S]*run\.jsonl/,
    );
    await expect(run(scored)).rejects.toThrow(/already exist; use --resume or --overwrite/);
    expect((await run(scored, { existing: "overwrite" })).result.completed).toBe(1);
  });

  it("recovers rollouts whose judge failed and copies the others", async () => {
    await write("in.jsonl", [0, 1, 2, 3].map(input));
    await write("run.jsonl", [stored(0)]);
    const judgeFailed = { _ng_failure_class: "judge_failed" };
    await write("run_failures.jsonl", [
      stored(1, judgeFailed),
      stored(1, judgeFailed),
      stored(2, { _ng_failure_class: "timeout" }),
      stored(0, judgeFailed),
      stored(3, judgeFailed),
    ]);
    const { result } = await run(scored, { judgeFailedOnly: true });
    expect(result.completed).toBe(2);
    const out = await rows("out.jsonl");
    expect(out.map((row) => [row["_ng_task_index"], row["reward"]])).toEqual([
      [0, 0],
      [1, 1],
      [3, 1],
    ]);
    expect(out[0]).toMatchObject({ old: true });
  });

  it("appends recovered rollouts to the run itself after repeated failures of the judge", async () => {
    await write("in.jsonl", [input(0), input(1)]);
    await write("run.jsonl", [stored(0)]);
    const failed = stored(1, { _ng_failure_class: "judge_failed" });
    await write("run_failures.jsonl", [failed, failed, failed]);
    const options = { judgeFailedOnly: true, existing: "append", output: "run.jsonl" } as const;
    expect((await run(scored, options)).result.completed).toBe(1);
    expect((await rows("run.jsonl")).map((row) => row["_ng_task_index"])).toEqual([0, 1]);
    expect((await run(scored, options)).result.completed).toBe(0);
  });

  it("limits the number of rollouts and names invalid rows", async () => {
    await write("in.jsonl", [input(0), input(1)]);
    await write("run.jsonl", [stored(0), stored(1)]);
    expect((await run(scored, { limit: 1 })).result.completed).toBe(1);
    await write("run.jsonl", [stored(0), stored(7)]);
    await expect(run(scored)).rejects.toThrow(/run\.jsonl:2: rollout 0 of task 7 has no input in/);
    await write("run.jsonl", [stored(0), stored(0)]);
    await expect(run(scored)).rejects.toThrow(/run\.jsonl:2: .* occurs twice/);
    await expect(run(scored, { judgeFailedOnly: true })).rejects.toThrow(/no failures file/);
  });

  it("does not overwrite its inputs", () => {
    const sources = {
      materializedInputsPath: at("in"),
      rolloutsPath: at("run.jsonl"),
      judgeFailedOnly: false,
    };
    for (const output of ["run.jsonl", "in", "run_failures.jsonl"])
      expect(() => checkOutput(at(output), sources, "overwrite")).toThrow(/is one of the input files/);
    const append = { ...sources, judgeFailedOnly: true };
    expect(() => checkOutput(at("run.jsonl"), append, "append")).not.toThrow();
  });
});

describe("unsafeServers", () => {
  it("asks every server, and lists a server without the route as unknown", async () => {
    const client = clientOf((server) =>
      server === "old"
        ? { status: 404, body: {} }
        : { body: server === "safe" ? "stateless" : "unsupported" },
    );
    expect(await unsafeServers(client, ["safe", "old", "never"])).toBe("old (unknown), never (unsupported)");
    expect(await unsafeServers(client, ["safe"])).toBeUndefined();
  });
});
