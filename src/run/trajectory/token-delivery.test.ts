import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TokenFileStore } from "../../servers/capture/token-file-store.ts";
import type { TokenCaptureRecord } from "../../servers/capture/token-record.ts";
import { RolloutCaptures } from "./captures.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nemo-gym-captures-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const input = { _ng_task_index: 0, _ng_rollout_index: 0, agent_ref: { name: "agent" } };

const record = (id: string, prompt: number[], generated: number[]): TokenCaptureRecord => ({
  schema_version: 1,
  rollout_id: "0-0",
  model_call_id: id,
  model: "m",
  prompt_token_ids: prompt,
  generation_token_ids: generated,
  generation_log_probs: generated.map(() => -0.1),
  routed_experts: null,
  output_items: [{ type: "message", id, role: "assistant", status: "completed", content: [] }],
  token_item_index: 0,
  created_at: Number(id),
});

describe("tokens", () => {
  const settings = { allAgents: false, minimum: 50, fraction: undefined as number | undefined };
  const training = (own: Partial<typeof settings> = {}) => {
    const { minimum, fraction } = { ...settings, ...own };
    return new RolloutCaptures({
      tokens: {
        source: new TokenFileStore(directory),
        appliesTo: (agent) => agent === "agent",
        maxMaskFraction: fraction,
        maskFractionMinSamples: minimum,
      },
      onNotice: () => {},
    });
  };
  const reply = () => ({
    reward: 1,
    response: { id: "resp", output: [{ type: "message", content: "text only" }] },
  });
  const put = async (...records: TokenCaptureRecord[]) => {
    const store = new TokenFileStore(directory);
    for (const own of records) {
      await store.beginCall("0-0", own.model_call_id);
      await store.put(own);
    }
    return store;
  };

  it("rebuilds the output, and deletes the records when the row is saved", async () => {
    await put(record("1", [1], [2]), record("2", [1, 2, 3], [4]));
    const { row, settle } = await training().attach(reply(), input, "completed");
    expect(row).toMatchObject({
      response: {
        id: "resp",
        output: [
          { id: "1", prompt_token_ids: [1], generation_token_ids: [2] },
          { id: "2", prompt_token_ids: [1, 2, 3], generation_token_ids: [4] },
        ],
      },
      _ng_token_capture: { n_calls: 2, chains: 1, turn_boundaries: { extend: 1, fork: 0, lost: 0 } },
    });
    expect(row).not.toHaveProperty("mask_sample");
    const steps: string[] = [];
    expect(existsSync(join(directory, "0-0.tokens.jsonl"))).toBe(true);
    await settle?.(async () => {
      steps.push(existsSync(join(directory, "0-0.tokens.jsonl")) ? "synced before" : "synced after");
    });
    expect(steps).toEqual(["synced before"]);
    expect(readdirSync(directory)).toEqual(["0-0.tokens.state.json"]);
  });

  it("masks incomplete and ambiguous rollouts, and keeps their records", async () => {
    const store = await put(record("1", [1], [2]), record("2", [1, 9, 3], [4]));
    await store.beginCall("0-0", "lost");
    const captures = training();
    const { row, settle } = await captures.attach(reply(), input, "completed");
    expect(row).toMatchObject({
      mask_sample: true,
      _ng_token_capture: {
        capture_incomplete: true,
        roots: 2,
        turn_boundaries: { extend: 0, fork: 1, lost: 1 },
      },
    });
    await settle?.(async () => expect.unreachable());
    expect(existsSync(join(directory, "0-0.tokens.jsonl"))).toBe(true);
    expect(captures.summary()).toEqual([
      "1 of 1 rollouts with token capture are masked (1 incomplete capture).",
    ]);
  });

  it("masks rollouts without records", async () => {
    expect((await training().attach(reply(), input, "completed")).row).toMatchObject({
      mask_sample: true,
      _ng_token_capture: { n_calls: 0, error: "nothing recorded" },
      response: reply().response,
    });
    const { row } = await training().attach(reply(), { agent_ref: { name: "agent" } }, "completed");
    expect(row).toMatchObject({ mask_sample: true, _ng_token_capture: { n_calls: 0 } });
  });

  it("masks rollouts whose records cannot be read", async () => {
    await put(record("1", [1], [2]));
    rmSync(join(directory, "0-0.tokens.jsonl"));
    mkdirSync(join(directory, "0-0.tokens.jsonl"));
    const row = (await training().attach(reply(), input, "completed")).row;
    expect(row).toMatchObject({ mask_sample: true, _ng_token_capture: { n_calls: 0 } });
  });

  it("does not change rows with tokens, rows of other agents, and failures", async () => {
    await put(record("1", [1], [2]));
    const own = {
      response: { output: [{ type: "message", prompt_token_ids: [1], generation_token_ids: [2] }] },
    };
    const { row, settle } = await training().attach(own, input, "completed");
    expect(row).toEqual(own);
    await settle?.(async () => {});
    expect(existsSync(join(directory, "0-0.tokens.jsonl"))).toBe(false);
    const other = { ...input, agent_ref: { name: "other" } };
    expect((await training().attach(reply(), other, "completed")).row).toEqual(reply());
    expect((await training().attach(reply(), input, "failed")).row).toEqual(reply());
  });

  it("ends a run when too many rollouts are masked", async () => {
    const captures = training({ minimum: 3, fraction: 0.5 });
    const settle = async () => (await captures.attach(reply(), input, "completed")).settle?.(async () => {});
    await settle();
    await settle();
    await expect(settle()).rejects.toMatchObject({ code: "ROLLOUT_MASK_FRACTION" });
  });

  it("clears records of an earlier run before a rollout starts", async () => {
    await put(record("1", [1], [2]));
    await training().prepare(input);
    expect(readdirSync(directory)).toEqual([]);
  });
});
