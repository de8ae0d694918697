import type { MetricsHooks } from "../../../../src/servers/definitions/define-resources.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import type { JsonObject } from "../rows.ts";

/** The metrics belong to the agent, which scores its rollouts itself. */
export const adapter: Adapter = {
  caseOf(row, { module }) {
    const { metrics } = (module["default"] as { options: { metrics: MetricsHooks } }).options;
    return () => {
      const computed = metrics.compute?.(row["tasks"] as JsonObject[][]);
      // The original divides by zero; here a share of nothing is left out.
      const isBroken = (value: unknown) => typeof value === "number" && !Number.isFinite(value);
      if (row.expected["raises"] !== undefined)
        return Object.values(computed ?? {}).some(isBroken) ? "a metric is no finite number" : undefined;
      return difference(computed, row.expected["compute_metrics"], "metrics", { relative: 1e-9 });
    };
  },
};
