import type { Adapter } from "../adapters.ts";
import { isObject, type JsonObject } from "../rows.ts";

/** The sandbox responds as the row says, and its input is compared. */
let call: JsonObject | null = null;

export const adapter: Adapter = {
  definition(module, row) {
    const { defineSwerlGen } = module;
    if (typeof defineSwerlGen !== "function") throw new Error("swerl_gen/app must export defineSwerlGen");
    call = null;
    return defineSwerlGen(async (task: JsonObject) => {
      const { instance, image, patch, testPatch, mode, timeoutSeconds } = task;
      call = {
        extra_info: isObject(instance) && typeof image === "string" ? "instance+image" : null,
        patch,
        repro_test_info:
          testPatch === null
            ? null
            : { instance_id: (instance as JsonObject)["instance_id"], test_patch: [testPatch] },
        mode,
        timeout: timeoutSeconds,
      };
      return row["sandbox_result"];
    });
  },
  observe: { sandbox_call: () => call },
};
