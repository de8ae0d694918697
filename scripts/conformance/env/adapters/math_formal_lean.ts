import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { startRowServer } from "../environment-server.ts";

type Create = (service: () => (code: string, timeout: number) => Promise<unknown>) => unknown;

/** The calls of the service of the row that runs; rows run one after the other. */
let calls: { code: string; timeout: number }[] = [];

export const adapter: Adapter = {
  definition(module, row) {
    calls = [];
    return (module["mathFormalLean"] as Create)(() => async (code, timeout) => {
      calls.push({ code, timeout });
      return row["sandbox_result"];
    });
  },
  /** A service that answers with something else fails the rollout, and an unknown placeholder the start. */
  caseOf: (row, environment) =>
    row.expected["status"] !== 500
      ? undefined
      : async () => {
          const run = await startRowServer(environment, row).catch(() => undefined);
          if (!run) return undefined;
          const reply = await run.server.post("/verify", row["request"]);
          await run.close();
          return reply.status >= 500 ? undefined : `expected a failure, got ${show(reply.body)}`;
        },
  observe: { sandbox_calls: () => calls },
};
