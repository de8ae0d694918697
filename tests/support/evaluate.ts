import { LocalExecutor, type LocalExecutorOptions } from "../../src/run/collect/local-executor.ts";
import { type Evaluation, type Execution, Run, type RunObserver, type RunPlan } from "../../src/run/run.ts";

type Options = RunPlan & Partial<RunObserver> & LocalExecutorOptions & Pick<Execution, "spent">;

/** Opens a run and executes it on servers that have started. */
export async function evaluate(options: Options): Promise<Evaluation> {
  const { client, captures, spent } = options;
  const run = await Run.open(options, { onEvent: () => {}, ...options });
  try {
    const executor = new LocalExecutor(options);
    return await run.execute({ executor, client, captures, spent, servers: "own" });
  } finally {
    await run.close();
  }
}
