import path from "node:path";
import { defineResourcesServer, type JsonObject, perServer, type ServerContext } from "nemo-gym";
import { codeRunnerConfig, createCodeRunner, guardedProgram, runGuarded } from "nemo-gym/code-runner";
import { laxFloat, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { codeOrAll } from "../../libraries/python-answers/extract.ts";
import { passMetrics } from "../../libraries/python-answers/metrics.ts";

/** Time to start the program and report its result, in addition to the time limits of its run and of the control run. */
const EXTRA_SECONDS = 10;

const Config = z.object({
  ...codeRunnerConfig,
  /** Seconds for the program and its check. */
  subprocess_timeout: laxFloat().default(120),
  /** Keys of the original without effect: the code runner has its own (`max_parallel`, `memory_mib`). */
  max_as_limit: z.unknown().optional(),
  num_processes: z.unknown().optional(),
});
type Config = z.output<typeof Config>;

const Metadata = z.looseObject({
  task_id: z.unknown().optional(),
  test: z.string().nullish(),
  entry_point: z.string().nullish(),
  setup_code: z.string().nullish(),
});
const Task = Metadata.extend({ test: z.string().min(1), entry_point: z.string().min(1) });

const partsOf = perServer((server: ServerContext<Config>) => ({
  runner: createCodeRunner(server),
  program: guardedProgram(path.join(server.directory, "run_tests.py")),
}));

interface Verdict {
  status: string;
  details: JsonObject | null;
}

/** Functions of scientific code, checked by the test of their task. */
export default defineResourcesServer({
  config: Config,
  row: z.object({ verifier_metadata: Metadata.nullish() }),
  seed: z.looseObject({ verifier_metadata: Task }),
  echo: [],
  reverifyMode: "stateless",
  metrics: passMetrics(
    ({ reward, failure_reason }) => ({
      accuracy: Number(reward),
      harness_failure: Number(failure_reason != null),
    }),
    "extracted_model_code",
  ),
  stop: (server) => partsOf(server).runner.close(),
  async verify({ config, row, response, server, sessionId, signal }) {
    const text = outputText(response);
    const metadata = row.verifier_metadata ?? {};
    const code = codeOrAll(text);
    const result = ({ status, details }: Verdict) => ({
      reward: status === "pass" ? 1 : 0,
      ...{ mask_sample: false, failure_kind: null, failure_reason: faultOf(details) },
      extracted_model_output: strip(text) === "" ? null : text,
      ...{ extracted_model_code: code || null, status, details, task_id: metadata.task_id ?? null },
    });
    if (strip(text) === "") return result({ status: "empty_output", details: null });
    if (code === "") return result({ status: "no_code_block", details: null });
    const { test, entry_point, setup_code } = metadata;
    if (!test || !entry_point) {
      const missing = Object.entries({ test, entry_point }).flatMap(([name, value]) => (value ? [] : [name]));
      return result({
        status: "malformed_task",
        details: { reason: "malformed_task", missing, phase: "dataset", harness_fault: true },
      });
    }
    const { runner, program } = partsOf(server);
    const seconds = config.subprocess_timeout;
    const outcome = await runGuarded(
      runner,
      program,
      { code, test, entry_point, setup_code: setup_code ?? "", seconds },
      { timeoutMs: (2 * seconds + EXTRA_SECONDS) * 1000, key: sessionId, signal },
    );
    if ("report" in outcome) return result(outcome.report as unknown as Verdict);
    if (outcome.ended === "timeout")
      return result({ status: "timeout", details: { reason: "subprocess_timeout" } });
    const details = { reason: "unparseable_runner_output", stderr: "", stdout: "" };
    return result({ status: "error", details });
  },
});

/** Which part of the task is at fault, if the model is not. */
function faultOf(details: JsonObject | null): string | null {
  if (details?.["harness_fault"] !== true) return null;
  const { reason, phase } = details;
  return reason === "malformed_task" || reason === "test_defines_no_check" ? reason : `${phase}_code_failed`;
}
