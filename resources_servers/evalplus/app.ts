import { defineResourcesServer, perServer, type ServerContext } from "nemo-gym";
import { codeRunnerConfig } from "nemo-gym/code-runner";
import { laxFloat, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { fencedPython } from "../../libraries/python-answers/extract.ts";
import { passMetrics } from "../../libraries/python-answers/metrics.ts";
import { ProblemRow, ProblemSeed, problemOf } from "../../libraries/python-answers/problems.ts";
import { Checker } from "./checker.ts";

const Config = z.object({
  ...codeRunnerConfig,
  dataset: z.enum(["humaneval", "mbpp"]),
  /** Problems of EvalPlus as JSON Lines, optionally compressed. */
  problems_fpath: z.string(),
  min_time_limit: laxFloat().default(1),
  gt_time_limit_factor: laxFloat().default(4),
});

const checkerOf = perServer((server: ServerContext<z.output<typeof Config>>) =>
  Checker.start(server, server.config, server.config.problems_fpath),
);

const metrics = passMetrics(
  ({ is_correct, is_correct_plus }) => ({
    passing_base_tests: Number(is_correct === true),
    passing_plus_tests: Number(is_correct_plus === true),
  }),
  "extracted_model_code",
);

/** HumanEval+ and MBPP+: a function must return the same results as the reference solution on many inputs. */
export default defineResourcesServer({
  config: Config,
  row: ProblemRow,
  seed: ProblemSeed,
  echo: [],
  reverifyMode: "stateless",
  metrics,
  start: async (server) => {
    await checkerOf(server);
  },
  stop: async (server) => (await checkerOf(server)).close(),
  async verify({ config, row, response, server, sessionId, signal }) {
    const text = outputText(response);
    const nothing = {
      reward: 0,
      ...{ extracted_model_output: null, extracted_model_code: null, base_status: null, plus_status: null },
      ...{ is_correct: false, is_correct_plus: false, metadata: null },
    };
    const checker = await checkerOf(server);
    const found = problemOf(row, checker.problems, `dataset '${config.dataset}'`);
    if ("error" in found) return { ...nothing, metadata: found };
    const { problem } = found;
    if (strip(text) === "") return nothing;
    const answered = { ...nothing, extracted_model_output: text };
    const code = strip(fencedPython(text) ?? "");
    if (code === "") return answered;
    const solution = code.startsWith(problem.prompt) ? code : problem.prompt + code;
    const options = { key: sessionId, signal };
    const base = await checker.check(problem, solution, "base", options);
    const plus = await checker.check(problem, solution, "plus", options);
    const is_correct = base.status === "pass";
    const is_correct_plus = is_correct && plus.status === "pass";
    return {
      ...answered,
      reward: is_correct_plus ? 1 : 0,
      extracted_model_code: code,
      base_status: base.status,
      plus_status: plus.status,
      is_correct,
      is_correct_plus,
      metadata: { base_details: base.details, plus_details: plus.details },
    };
  },
});
