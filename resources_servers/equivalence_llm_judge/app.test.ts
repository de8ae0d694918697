import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const directory = fileURLToPath(new URL(".", import.meta.url));

/** A server whose judge returns the scripted replies in order; null means that the call fails. */
async function withJudge(replies: (string | null)[], config: Record<string, unknown> = {}) {
  const prompts: string[] = [];
  const server = await createTestServer(definition, {
    config: { judge_model_server: { type: "responses_api_models", name: "judge" }, ...config },
    directory,
    servers: {
      judge: (_path, body) => {
        const { input } = body as { input: { content: string }[] };
        prompts.push(input.at(-1)?.content ?? "");
        const reply = replies[prompts.length - 1];
        if (typeof reply !== "string") throw new Error("connection refused");
        return { id: "r", output: [messageItem(reply)] };
      },
    },
  });
  return { server, prompts };
}

function body(answer: string, row: Record<string, unknown> = {}) {
  const question = { input: [{ role: "user", content: "What is 6*7?" }] };
  return verifyBody(
    { responses_create_params: question, expected_answer: "42", ...row },
    messageItem(answer),
  );
}

const perRecord = { template_metadata: { output_regex: "\\(\\((.*?)\\)\\)" } };

describe("equivalence_llm_judge", () => {
  it("asks the judge with the included prompt and reads its label", async () => {
    const { server, prompts } = await withJudge(["Same number.\n\n[[A=B]]"]);
    const { status, body: result } = await server.verify(body("forty-two"));
    expect(status).toBe(200);
    expect(result).toMatchObject({ reward: 1, expected_answer: "42" });
    expect(result.judge_evaluations).toHaveLength(1);
    expect(result.judge_evaluations[0].verdict_label).toBe("[[A=B]]");
    expect(prompts[0]).toContain("Question: What is 6*7?\nReference (A): 42\nCandidate (B): forty-two");
  });

  it("counts an unreadable verdict as different", async () => {
    const { server } = await withJudge(["I cannot say"]);
    const { body: result } = await server.verify(body("42"));
    expect([result.reward, result.judge_evaluations[0].verdict_label]).toEqual([0, null]);
    expect(result.judge_evaluations[0].judgement_parsing_issues).toEqual(["no_verdict"]);
  });

  it("takes the last label, and reports that the judge changed its mind", async () => {
    const { server } = await withJudge(["[[A=B]]? No: [[A!=B]]"]);
    const { body: result } = await server.verify(body("41"));
    expect(result.reward).toBe(0);
    expect(result.judge_evaluations[0]).toMatchObject({
      verdict_label: "[[A!=B]]",
      judgement_parsing_issues: ["conflicting_verdicts"],
    });
  });

  it("gives an empty or too long answer 0 without a judge", async () => {
    const { server, prompts } = await withJudge([], { max_answer_chars: 5 });
    const reasons = [];
    for (const answer of [" \n", "123456", "😀😀😀😀😀😀"]) {
      const { body: result } = await server.verify(body(answer));
      expect([result.reward, result.judge_evaluations]).toEqual([0, []]);
      reasons.push(result.failure_reason);
    }
    const tooLong = "final_answer_too_long: 6 characters exceeds 5";
    expect(reasons).toEqual(["empty_final_answer", tooLong, tooLong]);
    expect(prompts).toEqual([]);
  });

  it("asks again with the answers swapped and gives the configured partial reward", async () => {
    const config = { check_twice_swap: true, reward_if_swap_fails: 0.25 };
    const { server, prompts } = await withJudge(["[[A=B]]", "[[A!=B]]"], config);
    expect((await server.verify(body("six by seven"))).body.reward).toBe(0.25);
    expect(prompts[1]).toContain("Reference (A): six by seven\nCandidate (B): 42");
  });

  it("judges the whole response if the extracted answer is wrong", async () => {
    const { server, prompts } = await withJudge(["[[A!=B]]", "[[A=B]]"]);
    const { body: result } = await server.verify(body("42, so ((41))", perRecord));
    expect(result.reward).toBe(0.5);
    expect(prompts[0]).toContain("Candidate (B): 41");
    expect(prompts[1]).toContain("Candidate (B): 42, so ((41))");
  });

  it("does not extract an answer if the expected answer is long", async () => {
    const { server, prompts } = await withJudge(["[[A!=B]]"]);
    const { body: result } = await server.verify(
      body("((x))", { ...perRecord, expected_answer: "y".repeat(121) }),
    );
    expect([result.reward, prompts.length]).toEqual([0, 1]);
    expect(prompts[0]).toContain("Candidate (B): ((x))");
  });

  it("fails the rollout without a score if the judge cannot be reached", async () => {
    const { server } = await withJudge([null]);
    const { status, body: result } = await server.verify(body("42"));
    expect(status).toBe(200);
    expect(result._ng_failure_class).toBe("judge_failed");
    expect(result._ng_failure_judge_error).toContain("connection refused");
  });

  it("names the field of a malformed row", async () => {
    const { server } = await withJudge([]);
    const { status, body: result } = await server.verify(body("42", { expected_answer: 42 }));
    expect(status).toBe(422);
    expect(result.detail[0].loc).toEqual(["body", "expected_answer"]);
  });

  it("reads every included prompt", async () => {
    for (const name of ["equivalence_llm_judge", "lc_judge", "nl2bash"]) {
      const { server } = await withJudge(["CORRECT [[A=B]]"], {
        judge_prompt_template_fpath: `prompt_templates/${name}.txt`,
      });
      expect((await server.verify(body("42"))).body.reward).toBe(1);
    }
  });

  it("refuses to start if the prompt file is missing", async () => {
    await expect(
      withJudge([], { judge_prompt_template_fpath: "prompt_templates/missing.txt" }),
    ).rejects.toThrow("missing.txt");
  });

  it("accepts every example row", async () => {
    for (const file of ["example.jsonl", "example_nl2bash.jsonl"]) {
      const rows = (await readFile(new URL(`data/${file}`, import.meta.url), "utf8")).trim().split("\n");
      expect(rows).toHaveLength(5);
      for (const line of rows) {
        const { server } = await withJudge(["[[A=B]]"]);
        const row = JSON.parse(line) as Record<string, unknown>;
        const { status, body: result } = await server.verify(verifyBody(row, messageItem("x")));
        expect([status, result.expected_answer]).toEqual([200, row["expected_answer"]]);
      }
    }
  });
});

describe("hostile input", () => {
  const hostile: [string, string][] = [
    ["(a+)+$", `${"a".repeat(1_000_000)}!`],
    ["(\\s*a*)*b", " a".repeat(500_000)],
    ["\\(\\((.*?)\\)\\)", "((".repeat(500_000)],
    ["^(.*)*$|x", "\n".repeat(200_000)],
  ];
  it("takes bounded time for hostile patterns and answers", async () => {
    for (const [pattern, answer] of hostile) {
      const { server } = await withJudge(["[[A!=B]]", "[[A!=B]]"]);
      const { status } = await server.verify(body(answer, { template_metadata: { output_regex: pattern } }));
      expect(status).toBe(200);
    }
  });

  it("accepts answers of 5 MB and lone surrogates, and truncates them for the judge", async () => {
    const { server, prompts } = await withJudge(["[[A=B]]"], { judge_max_value_chars: 1000 });
    const { body: result } = await server.verify(body(`${"x\ud800".repeat(2_500_000)}`));
    expect(result.reward).toBe(1);
    expect(prompts[0]).toContain("characters omitted]");
    expect(prompts[0]?.length).toBeLessThan(4000);
  });
});
