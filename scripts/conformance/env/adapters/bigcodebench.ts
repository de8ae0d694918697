import type { Adapter } from "../adapters.ts";
import type { JsonObject } from "../rows.ts";

/** The runner responds as the row says, and its input is compared. */
let call: JsonObject | undefined;

export const adapter: Adapter = {
  definition(module, row) {
    const { defineBigCodeBench } = module;
    if (typeof defineBigCodeBench !== "function")
      throw new Error("bigcodebench/app must export defineBigCodeBench");
    call = undefined;
    return defineBigCodeBench(async (task: JsonObject) => {
      call = task;
      return row["runner_result"];
    });
  },
  observe: { runner_call: () => call },
};
