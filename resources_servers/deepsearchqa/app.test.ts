import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = {
  example_id: "1",
  problem: "Cities?",
  answer: "Paris, Lyon",
  answer_type: "Set Answer",
  problem_category: "Geo",
};
const verdict = (details: object, excess: unknown = []) =>
  JSON.stringify({ "Answer Correctness": { "Correctness Details": details, "Excessive Answers": excess } });

async function verify(replies: readonly (string | object)[]) {
  const { server, prompts } = await createJudgedServer(definition, import.meta.url, replies);
  return { ...(await server.verify(verifyBody(row, messageItem("Paris {x}")))), prompts };
}

describe("deepsearchqa", () => {
  it.each([
    [verdict({ Paris: true, Lyon: true }), { reward: 1, fully_correct: 1 }],
    [verdict({ Paris: true, Lyon: false }), { precision: 1, recall: 0.5, f1: 2 / 3, reward: 2 / 3 }],
    [verdict({ Paris: true }, ["Rome"]), { precision: 0.5, fully_correct: 0, correct_with_extraneous: 1 }],
    [verdict({ Paris: false }), { reward: 0, fully_incorrect: 1 }],
    [`no\n\`\`\`json\n${verdict({ Paris: true })}\n\`\`\`\nbye`, { reward: 1 }],
  ])("reads %s", async (reply, result) => {
    const { body, prompts } = await verify([reply]);
    expect(body).toMatchObject({ ...row, ...result });
    expect(prompts[0]).toContain("Paris {x}");
  });

  it.each([["Result: yes"], [verdict({})], [verdict({ Paris: 1 })], [verdict({ Paris: true }, null)]])(
    "does not reward the invalid reply %s",
    async (reply) => {
      const { body } = await verify([reply]);
      expect(body).toMatchObject({
        reward: 0,
        fully_incorrect: 1,
        judge_output: { error: "invalid judge output" },
      });
      expect(body._ng_judge.unreadable).toBe(1);
    },
  );

  it("fails the rollout if the judge fails", async () => {
    expect((await verify([])).body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });
});
