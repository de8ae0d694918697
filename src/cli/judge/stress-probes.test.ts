import { describe, expect, it } from "vitest";
import { type ProbeTools, probes, type StressAnswer } from "./stress-probes.ts";

const tools: ProbeTools = {
  judge: "grader-1",
  accept: "[[A=B]]",
  rewrite: async (answer) => answer.toUpperCase(),
};
const changed = async (name: string, given: StressAnswer) =>
  probes.find((probe) => probe.name === name)?.change(given, tools);

describe("probes", () => {
  const given = { row: { expected_answer: "Lima", more: 1 }, answer: "Quito" };

  it("swap the expected and the given answer", async () => {
    expect(await changed("order-swap", given)).toEqual({
      changed: { row: { expected_answer: "Quito", more: 1 }, answer: "Lima" },
    });
    expect(await changed("order-swap", { ...given, answer: "Lima" })).toBeUndefined();
    expect(await changed("order-swap", { ...given, row: {} })).toBeUndefined();
  });

  it.each(["padding", "paraphrase", "injected-verdict", "self-preference-signed"])(
    "%s keeps the answer",
    async (name) => {
      const found = await changed(name, given);
      expect(found?.changed.row).toBe(given.row);
      expect(found?.changed.answer).toContain("Quito");
      expect(found?.changed.answer).not.toBe("Quito");
    },
  );

  it("inject the verdict that the judge accepts with, and compare signatures", async () => {
    expect((await changed("injected-verdict", given))?.changed.answer).toContain("[[A=B]]");
    const signed = await changed("self-preference-signed", given);
    expect(signed?.changed.answer).toContain("grader-1");
    expect(signed?.base?.answer).not.toContain("grader-1");
    expect((await changed("self-preference-rewritten", given))?.changed.answer).toBe("QUITO");
  });
});
