import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { PyFloat } from "../base/python/numbers/py-float.ts";
import { resultJson } from "./result-json.ts";

describe("resultJson", () => {
  it("writes rewards, their components and log probabilities as floats", () => {
    const text = resultJson({
      reward: 1,
      reward_components: { format: 0, answer: 1, note: "x" },
      count: 3,
      response: {
        id: "r",
        output: [{ type: "message", generation_token_ids: [7], generation_log_probs: [0, -1, -0.25] }],
      },
    });
    expect(text).toBe(
      '{"reward":1.0,"reward_components":{"format":0.0,"answer":1.0,"note":"x"},"count":3,' +
        '"response":{"id":"r","output":[{"type":"message","generation_token_ids":[7],"generation_log_probs":[0.0,-1.0,-0.25]}]}}',
    );
  });

  it("writes log probabilities of a model answer as floats", () => {
    expect(resultJson({ output: ["?", { generation_log_probs: [0] }] })).toBe(
      '{"output":["?",{"generation_log_probs":[0.0]}]}',
    );
  });

  it("writes all other values like JSON.stringify", () => {
    const samples: unknown[] = [
      null,
      [1],
      "reward",
      { reward: "1", nested: { reward: 1 } },
      { reward: 0.5, gone: undefined, list: [undefined, 2] },
      { reward: new PyFloat(2), at: new Date(0), 'a"b': 1 },
      { reward: Number.NaN },
      { reward: 1e300, reward_components: null, response: null },
    ];
    for (const sample of samples) {
      expect(JSON.parse(resultJson(sample))).toEqual(JSON.parse(JSON.stringify(sample)));
    }
    expect(resultJson({ nested: { reward: 1 } })).toBe('{"nested":{"reward":1}}');
    expect(resultJson({ reward: new PyFloat(2) })).toBe('{"reward":2.0}');
  });

  it.skipIf(!hasPython())("is read as floats by Python", () => {
    const script =
      "import json,sys; r=json.load(sys.stdin); print(type(r['reward']).__name__, type(r['response']['output'][0]['generation_log_probs'][0]).__name__)";
    const input = resultJson({ reward: 0, response: { output: [{ generation_log_probs: [0] }] } });
    expect(execFileSync("python3", ["-c", script], { input, encoding: "utf8" })).toBe("float float\n");
  });
});

function hasPython(): boolean {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
