import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { arenaElo } from "./elo.ts";
import { arenaMetrics } from "./metrics.ts";
import { readVerdict } from "./verdict.ts";

describe("readVerdict", () => {
  it.each([
    ["I prefer [[A>>B]].", "A>>B"],
    ["[[A>B]] and again [[A>B]]", "A>B"],
    ["[[A>B]], no, [[B>A]]", null],
    ["[[ A>B ]]", null],
    ["A>B", null],
  ])("%s", (text, verdict) => {
    expect(readVerdict(text)).toBe(verdict);
  });
});

describe("arena_judge", () => {
  const body = (row = {}) =>
    verifyBody({ question: "Q?", baseline_answer: "base", ...row }, messageItem("mine"));

  it("asks in both orders and rewards a win in the first", async () => {
    const { server, prompts } = await createJudgedServer(definition, import.meta.url, [
      "[[A>B]]",
      "[[A>>B]]",
    ]);
    expect((await server.verify(body({ category: "unknown" }))).body).toMatchObject({
      reward: 1,
      category: "hard_prompt",
      verdict_gen_base: "A>B",
      verdict_base_gen: "A>>B",
      invalid_gen_base: false,
    });
    expect(prompts[0]).toMatch(/mine.*base/s);
    expect(prompts[1]).toMatch(/base.*mine/s);
  });

  it("counts a reply without a verdict as invalid", async () => {
    const { server } = await createJudgedServer(definition, import.meta.url, ["hm", { choices: [] }]);
    expect((await server.verify(body())).body).toMatchObject({
      reward: 0,
      invalid_gen_base: true,
      invalid_base_gen: true,
      judgement_base_gen: "",
    });
  });

  it("fails the rollout if a call fails", async () => {
    const { server } = await createJudgedServer(definition, import.meta.url, ["[[A>B]]"]);
    expect((await server.verify(body())).body).toMatchObject({ _ng_failure_class: "judge_failed" });
  });

  it("refuses a default category without a prompt", async () => {
    const start = createJudgedServer(definition, import.meta.url, [], { default_category: "other" });
    await expect(start).rejects.toThrow("default_category");
  });
});

describe("metrics", () => {
  it("rates by the share of points, with NumPy's resampling", () => {
    const games = [
      ["A>B", "A=B"],
      [null, "B>A"],
      ["B>A", "A>>B"],
      ["A>B", "B>A"],
      [null, "B>A"],
      ["A>>B", "A>>B"],
    ] as const;
    const given = games.map(([candidateFirst, baselineFirst]) => ({ candidateFirst, baselineFirst }));
    expect(arenaElo(given, { rounds: 20, seed: 42 })).toEqual({
      score: 53.12,
      ci_lower: -15.62,
      ci_upper: 31.67,
      invalid_scores: 2,
      n: 6,
    });
  });

  it("takes the best verdict of each task", () => {
    const task = [
      { verdict_gen_base: "B>A", verdict_base_gen: "A>B", category: "c" },
      { verdict_gen_base: "A>B", verdict_base_gen: "B>A", category: "c" },
    ];
    const hooks = arenaMetrics({ arena_elo_bootstrap_rounds: 5, arena_elo_bootstrap_seed: 1 });
    const metrics = hooks.compute?.([task]) ?? {};
    expect(metrics).toMatchObject({ "arena_elo/score": 100, "arena_elo/c/n": 1, "pass@2/double_wins": 100 });
    expect(hooks.key?.(metrics)).toMatchObject({ "arena_elo/ci_lower": 0, "pass@1[avg-of-2]/wins": 50 });
  });
});
