import type { Adapter } from "../adapters.ts";

/** The evaluation of the law is in the row; a text is the failure of the original, which the reward 0 stands for. */
export const adapter: Adapter = {
  definition(module, row) {
    const { defineNewtonBench } = module;
    if (typeof defineNewtonBench !== "function")
      throw new Error("newton_bench/app must export defineNewtonBench");
    const { evaluate_law_result: result } = row;
    if (result === undefined) return module["default"];
    return defineNewtonBench(() =>
      Promise.resolve(typeof result === "string" ? { error: `Evaluation failed: ${result}` } : result),
    );
  },
};
