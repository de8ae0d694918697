import { defineResourcesServer, loadPromptText } from "nemo-gym";
import { laxFloat } from "nemo-gym/openai";
import { z } from "zod";
import { boxedScore, finalAnswer } from "../../libraries/proofs/answer.ts";
import { createProofGrader, fitsLimits, proofGraderConfig } from "../../libraries/proofs/proof-grader.ts";

const SCORES = [0, 0.5, 1];
const FIELDS = ["problem", "proof", "reference", "candidate"];

/** The model reviews a proof and scores it; a judge scores the review. */
export default defineResourcesServer({
  config: z.object(proofGraderConfig),
  row: z.object({
    problem: z.string().default(""),
    proof: z.string().default(""),
    ground_truth_judgement: z.string(),
    ground_truth_verify_score: laxFloat(),
  }),
  echo: [],
  reverifyMode: "stateless",
  async start(server) {
    return {
      grader: createProofGrader(server),
      prompt: await loadPromptText(server, "prompts/meta.txt", FIELDS),
    };
  },
  async verify({ config, row, response, state: { grader, prompt }, signal }) {
    const { problem, proof, ground_truth_judgement: reference, ground_truth_verify_score: gold } = row;
    const candidate = finalAnswer(response, config.assert_think_end) ?? "";
    const score = boxedScore(candidate);
    if (score === null || !SCORES.includes(gold) || !fitsLimits(proof, candidate)) return { reward: 0 };
    const fields = { problem, proof, reference, candidate: grader.fit(candidate) };
    const quality = await grader.score(prompt.render(fields), signal);
    return { reward: (1 - Math.abs(score - gold)) * quality };
  },
});
