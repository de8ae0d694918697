import path from "node:path";
import { allAssistantText, createJudge, defineResourcesServer, JudgeError, judgeConfig } from "nemo-gym";
import { codeRunnerConfig, createCodeRunner, pythonProgram } from "nemo-gym/code-runner";
import { laxFloat, outputText } from "nemo-gym/openai";
import { stripThinkPairs } from "nemo-gym/verify";
import { z } from "zod";
import { agentifMetrics } from "./metrics.ts";
import { evaluate, type Outcome } from "./pipeline.ts";

/** Time to start Python and to report, in addition to the limit of a checker. */
const EXTRA_SECONDS = 10;
const DIMENSIONS = ["unconditional", "conditional", "example_driven"];
const TYPES = ["formatting", "semantic", "resource"];

const id = z.number().int().nullish();
const Constraint = z.looseObject({
  dimension: z.unknown().optional(),
  type: z.unknown().optional(),
  evaluation: z.array(z.looseObject({ type: z.string(), exec: z.string().optional() })).nullish(),
});
const Metadata = z.looseObject({ constraints: z.array(Constraint).nullish(), query_id: id, turn_id: id });

/** Instructions of agents with many constraints; a judge and Python checkers decide about each. */
export default defineResourcesServer({
  config: z.object({
    ...judgeConfig,
    ...codeRunnerConfig,
    /** Seconds for one Python checker. */
    code_timeout_s: laxFloat().default(10),
  }),
  row: z.looseObject({ verifier_metadata: Metadata.nullish() }),
  seed: z.looseObject({ verifier_metadata: Metadata.extend({ constraints: z.array(Constraint).min(1) }) }),
  reverifyMode: "stateless",
  metrics: agentifMetrics,
  start: (server) => ({
    judge: createJudge(server, server.config),
    runner: createCodeRunner(server),
    program: pythonProgram(path.join(server.directory, "check.py")),
  }),
  stop: (_server, { runner }) => runner.close(),
  async verify({ config, row, response, state: { judge, runner, program }, sessionId, signal }) {
    const { constraints, query_id = null, turn_id = null } = row.verifier_metadata ?? {};
    const answer = stripThinkPairs(outputText(response));
    let failure: string | undefined;
    const actors = {
      ask: async (prompt: string) => {
        try {
          const reply = await judge.ask(prompt, { signal });
          return stripThinkPairs(allAssistantText(reply));
        } catch (error) {
          if (!(error instanceof JudgeError)) throw error;
          failure ??= error.message;
          return null;
        }
      },
      check: async (code: string, value: string) => {
        const timeoutMs = (config.code_timeout_s + EXTRA_SECONDS) * 1000;
        const request = { code, value, seconds: config.code_timeout_s };
        const reply = await runner.withInterpreter(program, { key: sessionId, signal }, (python) =>
          python.ask(request, { timeoutMs, signal }),
        );
        if (reply.status !== "answered" || "error" in reply.value) return null;
        const { text, isNone, isTrue } = reply.value;
        return typeof text === "string" ? text : isNone === true ? null : isTrue === true;
      },
    };
    const counts = { true: 0, false: 0, skipped: 0, error: 0 };
    const [by_dimension, by_type] = [new Tally(DIMENSIONS), new Tally(TYPES)];
    for (const { dimension, type, evaluation } of constraints ?? []) {
      const outcome = await evaluate(evaluation ?? [], answer, actors);
      counts[outcome]++;
      by_dimension.add([dimension], outcome);
      by_type.add([type].flat(), outcome);
    }
    const scored = counts.true + counts.false;
    const passed = counts.true > 0 && counts.false === 0 && counts.error === 0;
    return {
      reward: passed,
      ...{ n_true: counts.true, n_false: counts.false, n_null: counts.skipped + counts.error },
      ...{ n_skipped: counts.skipped, n_error: counts.error },
      ...{ isr_pass: Number(passed), isr_counted: Number(scored + counts.error > 0) },
      ...{ by_dimension: by_dimension.counts, by_type: by_type.counts, query_id, turn_id },
      // Without the judge nobody knows whether the constraint was followed.
      ...(failure !== undefined && { _ng_failure_class: "judge_failed", _ng_failure_judge_error: failure }),
    };
  },
});

/** Verdicts by group; other groups than the known ones do not count. */
class Tally {
  readonly counts: Record<string, { n_true: number; n_false: number }> = {};
  readonly #known: readonly string[];

  constructor(known: readonly string[]) {
    this.#known = known;
  }

  add(groups: readonly unknown[], outcome: Outcome): void {
    if (outcome !== "true" && outcome !== "false") return;
    for (const group of this.#known.filter((name) => groups.includes(name))) {
      const count = this.counts[group] ?? { n_true: 0, n_false: 0 };
      count[`n_${outcome}`]++;
      this.counts[group] = count;
    }
  }
}
