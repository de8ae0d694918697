import { readFile } from "node:fs/promises";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { weightedMetrics } from "./weighted-metrics.ts";

const config = {
  judge_model_server: { type: "responses_api_models", name: "judge" },
  should_use_judge: false,
};

describe("polymath", () => {
  it("scores every example row and returns weight and language", async () => {
    const rows = (await readFile(new URL("data/example.jsonl", import.meta.url), "utf8")).trim().split("\n");
    expect(rows).toHaveLength(5);
    const server = await createTestServer(definition, { config });
    for (const line of rows) {
      const row = JSON.parse(line) as Record<string, unknown>;
      const reply = messageItem(`\\boxed{${row["expected_answer"]}}`);
      const { body } = await server.verify(verifyBody(row, reply));
      expect(body).toMatchObject({ reward: 1, weight: row["weight"], language: row["language"] });
      expect(body).not.toHaveProperty("difficulty");
    }
  });

  it("weights tasks by their difficulty", () => {
    const rollout = (library_reward: number, weight: number) => ({
      library_reward,
      extracted_answer: "1",
      weight,
    });
    const metrics = weightedMetrics.compute?.([[rollout(1, 3)], [rollout(0, 1)]]);
    expect(metrics).toMatchObject({
      "pass@1/symbolic_accuracy": 50,
      "pass@1/symbolic_accuracy_weighted": 75,
    });
  });
});
