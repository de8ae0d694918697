import type { Adapter } from "../adapters.ts";
import type { JsonObject } from "../rows.ts";

type Create = (run: (task: { files: JsonObject }) => Promise<unknown>) => unknown;
let calls: JsonObject[] = [];

export const adapter: Adapter = {
  definition(module, row) {
    calls = [];
    return (module["cvdp"] as Create)(async ({ files }) => {
      calls.push(files);
      const [exitCode, stderr, services] = row["harness_result"] as unknown[];
      return { exitCode, stderr, services };
    });
  },
  observe: { harness_calls: () => calls },
  comparable: (body) =>
    typeof body["execution_time"] === "number" && body["execution_time"] > 0
      ? { ...body, execution_time: "<number>" }
      : body,
};
