import { createJudgedServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { agentifMetrics } from "./metrics.ts";
import { verdictOf } from "./pipeline.ts";

const llm = { type: "llm", exec: "Polite? {response}" };
const code = (body: string) => ({ type: "code", exec: `def check_following(response):\n    ${body}` });

async function verify(
  evaluations: object[][],
  replies: readonly (string | object)[] = [],
  answer = "Hello world",
) {
  const constraints = evaluations.map((evaluation) => ({
    ...{ dimension: "unconditional", type: ["formatting", "odd"] },
    evaluation,
  }));
  const { server, prompts } = await createJudgedServer(definition, import.meta.url, replies);
  const row = { verifier_metadata: { constraints, query_id: 1, turn_id: 2 } };
  const { body } = await server.verify(verifyBody(row, messageItem(answer)));
  await server.close();
  return { ...body, prompts };
}

it.each([
  ["YES", true],
  ["I first said YES.\nNO", false],
  ["YES\nThat is all.", true],
  ["YES or NO", null],
  ["yes", null],
  ["EYES", null],
  ["", null],
])("reads the verdict of %j", (text, verdict) => {
  expect(verdictOf(text)).toBe(verdict);
});

describe("agentif", () => {
  it("needs every constraint", async () => {
    expect(await verify([[llm], [llm]], ["YES", "YES"])).toMatchObject({ reward: 1, n_true: 2, isr_pass: 1 });
    expect(await verify([[llm], [llm]], ["YES", "NO"])).toMatchObject({
      reward: 0,
      n_false: 1,
      isr_counted: 1,
    });
    expect(await verify([[llm], [llm]], ["YES", "maybe"])).toMatchObject({ reward: 0, n_error: 1 });
  });

  it("skips constraints that do not apply", async () => {
    const conditional = [{ type: "llm_conditional_check", exec: "Applies?" }, llm];
    const skipped = await verify([conditional, [llm]], ["NO", "YES"]);
    expect(skipped).toMatchObject({ reward: 1, n_skipped: 1, n_null: 1 });
    expect(skipped.prompts[0]).toContain("Hello world");
    expect(await verify([conditional], ["NO"])).toMatchObject({ reward: 0, isr_counted: 0 });
  });

  it("does not show the thinking to the judge", async () => {
    expect((await verify([[llm]], ["YES"], "<think>x</think>$& ok")).prompts).toEqual(["Polite? $& ok"]);
  });

  it("fails the rollout if the judge fails", async () => {
    expect(await verify([[llm]])).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });

  it.skipIf(skipWithoutBubblewrap)("runs checkers", async () => {
    const outcome = async (body: string) => {
      const { n_true, n_false, n_error } = await verify([[code(body)]]);
      return [n_true, n_false, n_error].join("");
    };
    expect(await outcome("return 'world' in response")).toBe("100");
    expect(await outcome("return 0")).toBe("010");
    expect(await outcome("return 'NO'")).toBe("010");
    expect(await outcome("return None")).toBe("001");
    expect(await outcome("raise ValueError(response)")).toBe("001");
    const upper = await verify([[code("return response.upper()"), llm]], ["YES"]);
    expect(upper.prompts).toEqual(["Polite? HELLO WORLD"]);
  });
});

it("reports shares of constraints and instructions", () => {
  const group = { n_true: 1, n_false: 1 };
  const rows = [
    { reward: 1, n_true: 2, n_false: 0, isr_pass: 1, isr_counted: 1 },
    { reward: 0, n_true: 1, n_false: 1, isr_pass: 0, isr_counted: 1, by_type: { resource: group } },
  ];
  const metrics = agentifMetrics.compute?.([rows]) ?? {};
  expect(metrics).toMatchObject({ csr: 0.75, isr: 0.5, "by_type/tool/accuracy": 0.5, count: 2 });
  expect(agentifMetrics.key?.(metrics)).toEqual({ csr: 0.75, isr: 0.5, mean_reward: 0.5 });
});
