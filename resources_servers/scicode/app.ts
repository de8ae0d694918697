import { existsSync } from "node:fs";
import { defineResourcesServer, HttpError, perServer, type ServerContext } from "nemo-gym";
import { codeRunnerConfig, createCodeRunner } from "nemo-gym/code-runner";
import { laxBool, laxFloat } from "nemo-gym/openai";
import { z } from "zod";
import { scicodeMetrics } from "./metrics.ts";
import { passes } from "./run-step.ts";

/** What an agent writes for the steps that no longer fit into the context of the model. */
const OUT_OF_CONTEXT = "_ran_out_of_context_";

const Config = z.object({
  ...codeRunnerConfig,
  /** The HDF5 file with the expected values. */
  test_data_fpath: z.string().nullish(),
  /** The Python, outside of the sandbox, that reads it: one with h5py. */
  data_python: z.string().min(1).default("python3"),
  timeout_secs: laxFloat().default(30),
  /** As in the original: a solution that ends the process with 0 before its tests passes. */
  exit_code_only: laxBool().default(false),
  /** A key of the original without effect: `max_parallel` limits the programs. */
  num_processes: z.unknown().optional(),
});
type Config = z.output<typeof Config>;

const Row = z.looseObject({
  problem_id: z.string(),
  sub_steps: z.array(
    z.looseObject({ step_number: z.string().nullish(), test_cases: z.array(z.string()).nullish() }),
  ),
  /** `<problem>.<step>` to code, from the agent. */
  solutions: z.record(z.string(), z.string()).nullish(),
});

const runnerOf = perServer((server: ServerContext<Config>) => createCodeRunner(server));

/** Programs of scientific computing, written step by step and tested against expected values. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  echo: ["problem_id"],
  reverifyMode: "stateless",
  metrics: scicodeMetrics,
  stop: (server) => runnerOf(server).close(),
  async verify({ config, row, server, sessionId, signal }) {
    const solutions = row.solutions ?? {};
    const steps = row.sub_steps.flatMap((step, index) => {
      const code = solutions[`${row.problem_id}.${index + 1}`];
      return code === undefined ? [] : [{ ...step, code }];
    });
    const dataFile = config.test_data_fpath ? server.findFile(config.test_data_fpath) : undefined;
    const results = await Promise.all(
      steps.map(({ step_number, test_cases, code }) => {
        if (code === "" || code === OUT_OF_CONTEXT) return false;
        if (dataFile === undefined || !existsSync(dataFile))
          throw new HttpError(
            422,
            `test_data_fpath: there is no file '${config.test_data_fpath ?? ""}' with the expected values.`,
          );
        if (step_number == null || test_cases == null)
          throw new HttpError(422, "Each of sub_steps needs step_number and test_cases.");
        return passes(
          { number: step_number, code, tests: test_cases },
          {
            runner: runnerOf(server),
            directory: server.directory,
            dataPython: config.data_python,
            dataFile,
            timeoutSeconds: config.timeout_secs,
            exitCodeOnly: config.exit_code_only,
          },
          { key: sessionId, signal },
        );
      }),
    );
    const passed = results.filter(Boolean).length;
    const isSolved = results.length > 0 && passed === results.length;
    return {
      reward: isSolved ? 1 : 0,
      step_results: results,
      ...{ num_steps_passed: passed, num_steps_total: results.length, problem_accuracy: isSolved },
      subtask_accuracy: results.length === 0 ? 0 : passed / results.length,
    };
  },
});
