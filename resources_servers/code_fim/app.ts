import path from "node:path";
import { defineResourcesServer, perServer, type ServerContext } from "nemo-gym";
import { checksProgram, codeRunnerConfig, createCodeRunner, runChecks } from "nemo-gym/code-runner";
import { laxFloat, outputText } from "nemo-gym/openai";
import { z } from "zod";
import { afterThoughts, fencedPython } from "../../libraries/python-answers/extract.ts";
import { passMetrics } from "../../libraries/python-answers/metrics.ts";
import { ProblemRow, ProblemSeed, problemOf, readProblems } from "../../libraries/python-answers/problems.ts";
import { completionOf } from "./overlap.ts";

/** Time to start the program and report its result, in addition to the program's own time limit. */
const EXTRA_SECONDS = 5;

const Config = z.object({
  ...codeRunnerConfig,
  split: z.enum(["single_line", "multi_line", "random_span", "random_span_light"]).default("random_span"),
  /** Problems of HumanEval-Infilling as JSON Lines, optionally compressed. */
  problems_fpath: z.string(),
  timeout: laxFloat().default(3),
});
type Config = z.output<typeof Config>;

const Problem = z.object({
  task_id: z.string(),
  prompt: z.string(),
  suffix: z.string(),
  test: z.string(),
  entry_point: z.string(),
});

const partsOf = perServer(async (server: ServerContext<Config>) => ({
  problems: await readProblems(server.findFile(server.config.problems_fpath), Problem),
  runner: createCodeRunner(server),
  program: checksProgram(path.join(server.directory, "check.py")),
}));

const metrics = passMetrics(({ passed }) => ({ accuracy: Number(passed === true) }), "completion");

/** Fill in the middle: the model writes the missing part of a program, which must then pass its tests. */
export default defineResourcesServer({
  config: Config,
  row: ProblemRow,
  seed: ProblemSeed,
  echo: [],
  reverifyMode: "stateless",
  metrics,
  start: async (server) => {
    await partsOf(server);
  },
  stop: async (server) => (await partsOf(server)).runner.close(),
  async verify({ config, row, response, server, sessionId, signal }) {
    const { problems, runner, program } = await partsOf(server);
    const text = outputText(response);
    const nothing = {
      reward: 0,
      ...{ extracted_model_output: null, extracted_model_code: null, completion: null },
      ...{ status: null, passed: false, metadata: null },
    };
    const found = problemOf(row, problems, `split '${config.split}'`);
    if ("error" in found) return { ...nothing, metadata: found };
    const { problem } = found;
    if (text === "") return nothing;
    const code = fencedPython(afterThoughts(text));
    if (code === null) return { ...nothing, extracted_model_output: text };
    const { prompt, suffix, test, entry_point } = problem;
    const completion = completionOf(code, prompt, suffix);
    const seconds = config.timeout;
    const answer = await runChecks(
      runner,
      program,
      { code: `${prompt}${completion}${suffix}`, prompt, test, entry_point, seconds },
      { timeoutMs: (seconds + EXTRA_SECONDS) * 1000, key: sessionId, signal },
    );
    const status = answer.status === "answered" ? String(answer.value["status"]) : "timed out";
    const passed = status === "passed";
    return {
      ...nothing,
      reward: passed ? 1 : 0,
      extracted_model_output: text,
      extracted_model_code: code,
      completion,
      status,
      passed,
    };
  },
});
