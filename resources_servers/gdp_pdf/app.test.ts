import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { gdpMetrics } from "./metrics.ts";
import { readScore } from "./score.ts";

const scored = (score: unknown) => JSON.stringify({ score, rationale: "because" });

describe("readScore", () => {
  it.each([
    [scored("1"), true, "1"],
    [scored("0.99995"), true, "0.99995"],
    [scored(0.99994), false, "0.99994"],
    ['{"score": 1.0, "rationale": "r"}', true, "1.0"],
    [scored("1e0"), true, "1"],
    [`\`\`\`json\n${scored("-1")}\n\`\`\``, false, "-1"],
  ])("%s", (reply, passed, score) => {
    expect(readScore(reply)).toMatchObject({ passed, score });
  });

  it.each([
    [scored(true)],
    [scored("yes")],
    [scored("NaN")],
    ['{"score": "1"}'],
    [`Sure: ${scored("1")}`],
    ["[1]"],
  ])("refuses %s", (reply) => {
    expect(readScore(reply)).toBeNull();
  });
});

describe("gdp_pdf", () => {
  const criteria = [
    { index: 1, criterion: "has a total" },
    { index: 2, criterion: "cites a page" },
  ];
  const body = (answer: string, given: unknown = criteria) =>
    verifyBody(
      { verifier_metadata: { criteria: given, prompt: "Do it", domain: "law" } },
      messageItem(answer),
    );

  it("rewards the share of passed criteria", async () => {
    const { server, calls, prompts } = await createJudgedServer(definition, import.meta.url, [
      scored("1"),
      scored("0"),
    ]);
    expect((await server.verify(body("Done"))).body).toMatchObject({
      reward: 0.5,
      num_criteria_passed: 1,
      all_pass: 0,
      criterion_evaluations: [
        { index: 1, passed: true },
        { index: 2, passed: false, rationale: "because" },
      ],
    });
    expect(prompts[1]).toContain("cites a page");
    expect(calls[0]?.body).toHaveProperty("response_format");
  });

  it("asks again about replies that cannot be read, and then fails the rollout", async () => {
    const config = { judge_max_attempts: 2 };
    const one = criteria.slice(0, 1);
    const again = await createJudgedServer(definition, import.meta.url, ["hm", scored("1")], config);
    expect((await again.server.verify(body("Done", one))).body.reward).toBe(1);
    const never = await createJudgedServer(
      definition,
      import.meta.url,
      ["hm", { choices: [] }, scored("1")],
      config,
    );
    expect((await never.server.verify(body("Done", one))).body).toMatchObject({
      _ng_failure_class: "judge_failed",
    });
  });

  it("does not ask about an empty answer or without a rubric", async () => {
    const { server, calls } = await createJudgedServer(definition, import.meta.url, []);
    expect((await server.verify(body(""))).body).toMatchObject({ reward: 0, num_criteria: 2 });
    expect((await server.verify(body("Done", []))).body).toMatchObject({ reward: 0, missing_rubric: true });
    expect((await server.verify(body("Done", [{ index: "a" }]))).status).toBe(422);
    expect(calls).toEqual([]);
  });
});

it("splits the metrics by domain", () => {
  const metrics =
    gdpMetrics.compute?.([[{ all_pass: 1, mean_criterion_pass: 1, verifier_metadata: { domain: "law" } }]]) ??
    {};
  expect(metrics).toMatchObject({ "law/pass@1/all_pass": 100 });
  expect(gdpMetrics.key?.(metrics)).not.toHaveProperty("law/pass@1/all_pass");
});
