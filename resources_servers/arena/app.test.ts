import { createJudgedServer, messageItem, modelResponse, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition, { type Config } from "./app.ts";
import { arenaMetrics } from "./metrics.ts";
import { promptSlices } from "./slices.ts";
import { rewardOf, type Verdict } from "./verdict.ts";

const row = { question_id: "1", question: "Why?", baseline_answer: "Because.", category: "c" };

async function verify(replies: string[], { text = "My answer", config = {}, given = {} } = {}) {
  const { server, calls } = await createJudgedServer(definition, import.meta.url, replies, config);
  const { body } = await server.verify(verifyBody({ ...row, ...given }, messageItem(text)));
  return { body, calls };
}

it.each<[Verdict | null, Verdict | null, number, number]>([
  ["[[A>>B]]", "[[B>>A]]", 3, 1],
  ["[[A>>B]]", "[[A=B]]", 3, 0.875],
  ["[[A>>B]]", "[[A=B]]", 1, 0.75],
  ["[[BB]]", "[[BB]]", 1, 0.5],
  ["[[B>A]]", "[[A>B]]", 1, 0],
  [null, "[[B>A]]", 1, 0.5],
])("%s and %s with weight %d give %d", (first, second, weight, reward) => {
  expect(rewardOf(first, second, weight)).toBe(reward);
});

describe("arena", () => {
  it("plays both orders, and reads the last verdict", async () => {
    const { body, calls } = await verify(["[[B>A]]? No: [[A>B]]", "[[B>A]]"]);
    expect(body).toMatchObject({ reward: 1, policy_answer: "My answer" });
    const asked = calls.map(
      ({ body: call }) => (call["input"] as { content: string }[]).at(-1)?.content ?? "",
    );
    expect(asked[0]).toContain("<answer_a>My answer");
    expect(asked[1]).toContain("<answer_b>My answer");
  });

  it("does not show the thinking to the judge", async () => {
    const { body } = await verify(["[[A>B]]", "[[B>A]]"], { text: "<think>hm</think>Yes<thinking>open" });
    expect(body).toMatchObject({ policy_answer: "Yes", policy_reasoning: "hm\n\nopen" });
  });

  it("fails the rollout if one game was not judged", async () => {
    expect((await verify(["[[A>B]]"])).body).toMatchObject({ _ng_failure_class: "judge_failed" });
  });

  it.each([
    [{ text: "<think>x</think>" }, { policy_answer: null, policy_reasoning: "x" }],
    [{ config: { generation_only: true } }, { policy_answer: "My answer", games: null }],
    [{ given: { self_comparison: true } }, { self_comparison: true, games: null }],
    [
      { given: { baseline_model: " Org/M/ " }, config: { policy_model_aliases: ["org/m"] } },
      { self_comparison: true },
    ],
  ])("does not ask the judge for %j", async (options, result) => {
    const { body, calls } = await verify([], options);
    expect(body).toMatchObject({ reward: 0, ...result });
    expect(calls).toEqual([]);
  });

  it("does not judge truncated answers in version 3", async () => {
    const { server, calls } = await createJudgedServer(definition, import.meta.url, []);
    const response = {
      ...modelResponse(messageItem("x")),
      incomplete_details: { reason: "max_output_tokens" },
    };
    const { body } = await server.verify({ ...verifyBody(row), response });
    expect([body.reward, body.games, calls.length]).toEqual([0, null, 0]);
  });
});

it("finds the slices of a prompt", () => {
  const criteria = Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [name, true]));
  const tags = {
    math_v1: { math: true },
    "if_v0.1": { if: false },
    "criteria_v0.1": criteria,
    industry_v1: { life_science: true },
  };
  const metadata = {
    tags,
    user_language: "en",
    taxonomy: [{ natural_language: "English", task_type: "None" }],
  };
  expect(promptSlices(metadata, "hi")).toEqual({
    arena: ["english", "hard-prompts", "hard-prompts-english", "industry-life-science", "math"],
    "taxonomy-language": ["English"],
    "taxonomy-task-type": [],
  });
  const user = { role: "user", content: "x" };
  expect(promptSlices({ user_language: "pl" }, [user, user])["arena"]).toEqual([
    "multi-turn",
    "non-english",
    "polish",
  ]);
});

describe("metrics", () => {
  const config = {
    ...{
      verdict_weight: 1,
      score_both_bad_as_tie: true,
      style_control_method: "reference_length",
      style_length_ratio_range: [0.5, 1.75],
    },
    ...{ bootstrap_rounds: 20, bootstrap_seed: 1, slice_min_prompts: 2, generation_only: false },
    ...{ style_short_reference_tokens: 100, style_short_response_tokens: 175 },
  } as Config;
  const won = (policy_answer: string, reference: number) => ({
    ...{
      policy_answer,
      style_reference_token_count: reference,
      category: "c",
      prompt_slices: { arena: ["math"] },
    },
    games: [{ verdict: "[[A>B]]" }, { verdict: "[[B>A]]" }],
  });

  it("count answers of another length as lost", () => {
    const metrics =
      arenaMetrics(config).compute?.([[won("word ".repeat(200), 200)], [won("short", 200)]]) ?? {};
    expect(metrics).toMatchObject({ win_rate_no_SC: 1, prompts: 2, "arena/math/prompts": 2 });
    expect(metrics["win_rate"]).toBeGreaterThan(0);
    expect(metrics["win_rate"]).toBeLessThan(1);
    const long = arenaMetrics(config).compute?.([[won("word ".repeat(300), 50)], [won("fine", 50)]]) ?? {};
    expect(long["win_rate"]).toBeLessThan(1);
  });

  it("leave games out that both lost, if they are not ties", () => {
    const bad = { ...won("a", 5), games: [{ verdict: "[[BB]]" }, { verdict: "[[B>A]]" }] };
    const rate = (tie: boolean) =>
      arenaMetrics({ ...config, score_both_bad_as_tie: tie, bootstrap_rounds: 1000 }).compute?.([[bad]])?.[
        "win_rate_no_SC"
      ];
    expect(rate(true)).toBeCloseTo(0.75, 1);
    expect(rate(false)).toBe(1);
  });

  it("leave the control of version 2 out", () => {
    const metrics =
      arenaMetrics({ ...config, style_control_method: "bradley_terry" }).compute?.([[won("a", 5)]]) ?? {};
    expect(Object.keys(metrics)).toContain("win_rate_no_SC");
    expect(Object.keys(metrics)).not.toContain("win_rate");
  });
});
