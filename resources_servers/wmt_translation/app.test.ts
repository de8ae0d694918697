import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { translationMetrics } from "./metrics.ts";

const row = { text: "Hello", translation: "Hallo", source_language: "en", target_language: "de_DE" };

async function verify(text: string, config: Record<string, unknown> = {}) {
  const server = await createTestServer(definition, { config });
  return server.verify(verifyBody(row, messageItem(text)));
}

describe("wmt_translation", () => {
  it.each([
    ["Hallo", 1, "Hallo"],
    ["<think>Hm.</think>\n\nHallo ", 1, "Hallo"],
    ["<think>Hallo", 0, ""],
    ["", 0, ""],
    ["xyz", 0, "xyz"],
  ])("rewards %j with %d", async (text, reward, generation) => {
    const { body } = await verify(text);
    expect(body).toMatchObject({ reward, generation, sentence_chrf: 100 * reward, comet_score: null });
  });

  it("keeps the reasoning if it is told to", async () => {
    const { body } = await verify("<think>Hallo", { strip_reasoning: false });
    expect(body["generation"]).toBe("<think>Hallo");
    expect(body.reward).toBeGreaterThan(0);
  });

  it.each([{ compute_comet: true }, { language_consistency_backend: "cld2" }])(
    "refuses the config %j",
    async (config) => {
      await expect(verify("Hallo", config)).rejects.toThrow(Object.keys(config)[0]);
    },
  );

  it("averages the pairs of each language", () => {
    const result = (target: string, generation: string) => ({
      source_language: "en",
      target_language: target,
      translation: "abc",
      generation,
    });
    const metrics = translationMetrics.compute?.([
      [result("de", "abc"), result("de", "abc"), result("de", "abc")],
      [result("fr", "abc"), result("fr", "xyz")],
    ]);
    expect(metrics).toMatchObject({
      "en->de/chrF": 100,
      "en->de/chrF_std_dev_across_runs": 0,
      "en->fr/chrF": 50,
      "en->fr/chrF_std_dev_across_runs": 50,
      "en->xx/chrF": 75,
      "xx->fr/chrF": 50,
      "xx->xx/chrF": 75,
      "xx->xx/chrF_std_dev_across_runs": 25,
    });
  });
});
