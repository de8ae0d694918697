import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestServer, functionCallItem, functionCallOutputItem, messageItem } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import definition from "./app.ts";
import { Recordings, splitTurns } from "./recordings.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nemo-gym-replay-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const question = [{ role: "user", content: "Weather?" }];
const rollout = (output: unknown[], repeat = 0) =>
  JSON.stringify({
    responses_create_params: { input: question },
    response: {
      id: "r",
      created_at: 5,
      model: "m",
      object: "response",
      output,
      usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
    },
    reward: 1,
    _ng_task_index: 0,
    _ng_rollout_index: repeat,
  });

async function replay(text: string) {
  const file = join(folder, "rollouts.jsonl");
  writeFileSync(file, text);
  return createTestServer(definition, { config: { rollouts_jsonl_fpath: file } });
}

describe("replay_model", () => {
  it("replays a rollout turn by turn", async () => {
    const call = functionCallItem("get_weather", { city: "Oslo" }, "c1");
    const server = await replay(
      `${rollout([call, functionCallOutputItem("cold", "c1"), messageItem("It is cold.")])}\n`,
    );
    const first = await server.post("/v1/responses", { input: question });
    expect(first.body.output).toMatchObject([{ type: "function_call", name: "get_weather" }]);
    const input = [...question, ...first.body.output, functionCallOutputItem("cold", "c1")];
    const second = await server.post("/v1/responses", { input });
    expect(second.body.output[0].content[0].text).toBe("It is cold.");
    expect(second.body.usage.total_tokens).toBe(4);
    const third = await server.post("/v1/responses", { input: [...input, ...second.body.output] });
    expect(third.status).toBe(404);
    expect(third.body.error).toMatchObject({ class: "replay_miss", retryable: false });
    await server.close();
  });

  it("does not count turns in the input of a row", async () => {
    const input = [...question, messageItem("Where?"), { role: "user", content: "Oslo" }];
    const row = { ...JSON.parse(rollout([messageItem("Cold.")])), responses_create_params: { input } };
    const server = await replay(`${JSON.stringify(row)}\n`);
    const reply = await server.post("/v1/responses", { input });
    expect(reply.body.output[0].content[0].text).toBe("Cold.");
    await server.close();
  });

  it("names the key of a missing file", async () => {
    const config = { rollouts_jsonl_fpath: join(folder, "none.jsonl") };
    await expect(createTestServer(definition, { config, name: "policy_model" })).rejects.toThrow(
      /policy_model\.rollouts_jsonl_fpath cannot be read: ENOENT/,
    );
  });

  it("warns once if it replays a rollout for more repeats than were recorded", () => {
    const said: string[] = [];
    const recordings = new Recordings("r.jsonl", (text) => said.push(text));
    recordings.add(rollout([messageItem("a")]), 1);
    for (const id of ["0-0", "0-1", "0-2"]) expect(recordings.find(id, question)).toBeDefined();
    expect(said).toEqual([
      expect.stringContaining("r.jsonl holds 1 rollouts of a task that repeat 2 is asked of"),
    ]);
  });

  it("reports a request that was not recorded", async () => {
    const server = await replay(`${rollout([messageItem("x")])}\n`);
    const miss = await server.post("/v1/responses", { input: "Something else?" });
    expect(miss.status).toBe(404);
    expect(miss.body.detail).toContain("has no rollout for this request");
    await server.close();
  });

  it.each([
    ["{", /rollouts.jsonl:1 is not JSON/],
    ['{"reward":1}', /rollouts.jsonl:1 is not a rollout/],
  ])("names the line that cannot be replayed: %s", async (line, message) => {
    await expect(replay(`${line}\n`)).rejects.toThrow(message);
  });
});

it("splits a trajectory at messages of the environment", () => {
  const user = { type: "message", role: "user", content: "Go on." };
  const items = [messageItem("a"), user, messageItem("b"), messageItem("c")];
  expect(splitTurns(items as never).map((turn) => turn.length)).toEqual([1, 2]);
});
