import { defineResourcesServer, HttpError, JudgeError, loadPromptText } from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { Cohorts } from "../../libraries/cohorts/cohorts.ts";
import { boxedScore, finalAnswer } from "../../libraries/proofs/answer.ts";
import { createProofGrader, fitsLimits, proofGraderConfig } from "../../libraries/proofs/proof-grader.ts";

const Config = z
  .object({
    ...proofGraderConfig,
    /** Weight of the proof's score, and of an honest self evaluation. */
    alpha: z.number().default(1),
    beta: z.number().default(0),
    /** No rollout of a problem is rewarded if none has a proof with a score. */
    zero_reward_incorrect_groups: laxBool().default(false),
    /** Number of rollouts of each problem; needed for groups. */
    expected_group_size: z.number().int().default(-1),
    group_timeout_s: z.number().positive().default(1800),
    num_workers: z.number().nullish(),
  })
  .refine((config) => !config.zero_reward_incorrect_groups || config.expected_group_size > 0, {
    message: "must be above 0 with zero_reward_incorrect_groups",
    path: ["expected_group_size"],
  })
  .refine((config) => !config.zero_reward_incorrect_groups || (config.num_workers ?? 1) === 1, {
    message:
      "the rollouts of a problem wait for each other in one process, so the server cannot have several",
    path: ["num_workers"],
  });

/** A proof with the author's own evaluation. */
interface Submission {
  proof: string;
  evaluation: string;
  selfScore: number;
}

interface Member {
  /** Null if the judge failed. */
  proofScore: number | null;
}

/** The model proves a claim and evaluates its proof; a judge scores both. */
export default defineResourcesServer({
  config: Config,
  row: z.object({ problem: z.string().default("") }),
  seed: z.object({ problem: z.string().min(1) }),
  echo: [],
  reverifyMode: "unknown",
  cohort: (config) => (config.zero_reward_incorrect_groups ? config.expected_group_size : 1),
  async start(server) {
    const groups = new Cohorts<Member, boolean>({
      size: server.config.expected_group_size,
      collectionTimeoutMs: server.config.group_timeout_s * 1000,
      evaluate: async (members) => {
        const isIncorrect = members.every(({ proofScore }) => proofScore === 0);
        return members.map(() => isIncorrect);
      },
    });
    return {
      groups,
      grader: createProofGrader(server),
      verifier: await loadPromptText(server, "prompts/verifier.txt", ["problem", "proof"]),
      meta: await loadPromptText(server, "prompts/meta.txt", ["problem", "proof", "evaluation"]),
    };
  },
  async verify({ config, row: { problem }, response, state, signal }) {
    const { alpha, beta } = config;
    const { grader, groups, verifier, meta } = state;
    const scored = async () => {
      const submission = readSubmission(finalAnswer(response, config.assert_think_end) ?? "");
      if (!submission) return { reward: 0, proofScore: 0 };
      const { evaluation, selfScore } = submission;
      const proof = grader.fit(submission.proof);
      const [proofScore, honesty] = await Promise.all([
        grader.score(verifier.render({ problem, proof }), signal),
        beta === 0
          ? 0
          : grader.score(meta.render({ problem, proof, evaluation: grader.fit(evaluation) }), signal),
      ]);
      return {
        reward: alpha * proofScore + beta * (1 - Math.abs(selfScore - proofScore)) * honesty,
        proofScore,
      };
    };
    if (!config.zero_reward_incorrect_groups) return { reward: (await scored()).reward };
    if (problem === "") throw new HttpError(422, "A row without a problem belongs to no group.");
    const join = (member: Member) => groups.join({ key: problem }, member, signal);
    const { reward, proofScore } = await scored().catch(async (error: unknown) => {
      // The others of the group must not wait for this rollout.
      if (error instanceof JudgeError) await join({ proofScore: null });
      throw error;
    });
    return { reward: (await join({ proofScore })) ? 0 : reward };
  },
  stop(_server, { groups }) {
    groups.close();
  },
});

const SOLUTION = "## Solution";
const EVALUATION = "## Self Evaluation";

/** Splits an answer at its two headings; null if one is missing, the own score is invalid or a part is too long. */
function readSubmission(answer: string): Submission | null {
  const start = answer.indexOf(SOLUTION);
  const split = start < 0 ? -1 : answer.indexOf(EVALUATION, start + SOLUTION.length);
  if (split < 0) return null;
  const proof = strip(answer.slice(start + SOLUTION.length, split));
  const evaluation = strip(answer.slice(split + EVALUATION.length));
  const selfScore = boxedScore(evaluation);
  return selfScore !== null && fitsLimits(proof, evaluation) ? { proof, evaluation, selfScore } : null;
}
