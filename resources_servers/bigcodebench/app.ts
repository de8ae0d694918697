import { defineResourcesServer, HttpError } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { codeOrAll } from "../../libraries/python-answers/extract.ts";
import { passMetrics } from "../../libraries/python-answers/metrics.ts";
import { Config, closeRunner, type RunTests, runTests } from "./run-tests.ts";

const Task = z.object({
  task_id: z.string().nullish(),
  test: z.string(),
  entry_point: z.string(),
  code_prompt: z.string().default(""),
});

const metrics = passMetrics(({ reward }) => ({ accuracy: Number(reward) }), "extracted_model_code");

/** Programs that use many libraries, checked by unit tests. */
export function defineBigCodeBench(run: RunTests) {
  return defineResourcesServer({
    config: Config,
    row: z.object({ verifier_metadata: z.record(z.string(), z.unknown()).nullish() }),
    seed: z.looseObject({ verifier_metadata: Task }),
    echo: [],
    reverifyMode: "stateless",
    metrics,
    stop: closeRunner,
    async verify({ config, row, response, server, sessionId, signal }) {
      const text = outputText(response);
      const taskId = row.verifier_metadata?.["task_id"] ?? null;
      const nothing = {
        reward: 0,
        ...{ extracted_model_output: text, extracted_model_code: null, status: "empty_output" },
        ...{ details: null, task_id: taskId },
      };
      if (strip(text) === "") return { ...nothing, extracted_model_output: null };
      const task = Task.safeParse(row.verifier_metadata ?? {});
      if (!task.success)
        throw new HttpError(422, `verifier_metadata does not fit: ${z.prettifyError(task.error)}`);
      const code = codeOrAll(text);
      if (code === "") return { ...nothing, status: "no_code_block" };
      const { test, entry_point, code_prompt } = task.data;
      const program = `${code_prompt}\n    pass\n${code}`;
      const scope = { config, server, sessionId, signal };
      const verdict = await run({ code: program, test_code: test, entry_point }, scope);
      const status = verdict?.status ?? null;
      return {
        ...nothing,
        reward: status === "pass" ? 1 : 0,
        extracted_model_code: code,
        status,
        details: verdict?.details ?? null,
      };
    },
  });
}

export default defineBigCodeBench(runTests);
