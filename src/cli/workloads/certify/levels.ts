/** What a certificate covers. Each level includes the ones before it. */
export const levels = ["static", "runtime", "semantic", "statistical"] as const;
export type Level = (typeof levels)[number];

export function includes(level: Level, other: Level): boolean {
  return levels.indexOf(other) <= levels.indexOf(level);
}

/** The level of each check, and what to do when it fails. */
export const checkTable: Readonly<Record<string, { readonly level: Level; readonly remedy: string }>> = {
  "example-metrics-current": { level: "static", remedy: "Run `gym dataset collate` and commit the file." },
  "answer-not-announced": {
    level: "static",
    remedy: "Remove the answer from the prompt, the tools and the file names of the row.",
  },
  "rows-unique": { level: "static", remedy: "Remove the repeated rows, or correct the answers that differ." },
  "rows-not-contaminated": {
    level: "static",
    remedy: "Remove the rows from the training data, or replace them in the benchmark.",
  },
  "example-rows-usable": { level: "runtime", remedy: "Correct the rows or the schema of the server." },
  "reward-in-range": { level: "runtime", remedy: "Clamp the reward, or declare the range in audit.yaml." },
  "verification-deterministic": {
    level: "runtime",
    remedy: "Seed random numbers from the row, and read no clock.",
  },
  "verification-order-independent": {
    level: "runtime",
    remedy: "Keep state in the session, not in the module or the server.",
  },
  "sessions-isolated": {
    level: "runtime",
    remedy: "Keep state in the session, not in the module or the server.",
  },
  "malformed-output-is-no-failure": {
    level: "runtime",
    remedy: "Check the parts of the response before they are read; a malformed answer is a 0.",
  },
  "verification-fast": { level: "runtime", remedy: 'Bound the work, or use verifyIn: "pool".' },
  "gold-earns-maximum": {
    level: "semantic",
    remedy: "Correct the verifier, or describe the right answer under `gold` in audit.yaml.",
  },
  "nonsense-earns-minimum": {
    level: "semantic",
    remedy: "Reward an answer only where it says what is asked.",
  },
  "near-miss-loses": {
    level: "semantic",
    remedy: "Compare the whole answer; explain edits that are right under `near_misses.except`.",
  },
  "rewriting-keeps": {
    level: "semantic",
    remedy:
      "Normalize the answer before it is compared; explain forms that do not count under `rewritings.except`.",
  },
  "judge-failure-is-no-reward": {
    level: "semantic",
    remedy: "Fail the rollout when the judge gives no verdict.",
  },
  "judge-not-talked-over": {
    level: "semantic",
    remedy: "Read the verdict from the end of the judge's reply only.",
  },
  "verifier-cases-pass": {
    level: "semantic",
    remedy: "Correct the verifier or the case in tests/verifier_cases.jsonl.",
  },
  "mutation-score": {
    level: "semantic",
    remedy:
      "Add verifier cases that tell the survivors from the verifier, or explain them under `equivalent_mutants`.",
  },
  "rewards-carry-signal": {
    level: "statistical",
    remedy: "Choose tasks that the models neither always nor never solve.",
  },
  "components-vary": {
    level: "statistical",
    remedy: "Remove the parts of the result that never vary, or correct them.",
  },
  "models-separated": { level: "statistical", remedy: "Run more tasks or repeats, or choose harder tasks." },
};
