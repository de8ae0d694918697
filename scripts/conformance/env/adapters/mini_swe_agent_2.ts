import { readFile } from "node:fs/promises";
import { sweMetrics } from "../../../../libraries/swe/metrics.ts";
import { resolvedOf, rewardOf } from "../../../../libraries/swe/report.ts";
import { aggregateMetrics } from "../../../../src/records/metrics/aggregate.ts";
import { withoutRepeats } from "../../metrics.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { type FixtureRow, isObject, type JsonObject } from "../rows.ts";

/** Rollouts of the original and the metrics it computed over them. */
export const adapter: Adapter = {
  async rows(file) {
    const rollouts = (await readFile(file, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonObject);
    const metrics: unknown = JSON.parse(
      await readFile(file.replace(/\.jsonl$/, "_aggregate_metrics.json"), "utf8"),
    );
    const [expected] = metrics as JsonObject[];
    return [
      ...rollouts.map((rollout) => ({
        id: String(rollout["instance_id"]),
        rollout,
        expected: { reward: rollout["reward"], resolved: rollout["reward"] === 1 },
      })),
      { id: "aggregate metrics", kind: "aggregate", rollouts, expected: expected ?? {} },
    ];
  },
  caseOf: (row) => () => (row["kind"] === "aggregate" ? aggregated(row) : graded(row)),
};

function graded({ rollout, expected }: FixtureRow): string | undefined {
  const { metadata, instance_id } = rollout as JsonObject;
  const id = String(instance_id);
  const actual = { reward: rewardOf(metadata, id), resolved: resolvedOf(metadata, id) };
  return difference(actual, expected, "result");
}

function aggregated({ rollouts, expected }: FixtureRow): string | undefined {
  const { compute: computeMetrics, key: keyMetrics } = sweMetrics;
  const rows = (rollouts as JsonObject[]).filter(isObject);
  const actual = aggregateMetrics(rows, {
    ...(computeMetrics && { computeMetrics }),
    ...(keyMetrics && { keyMetrics }),
  });
  const { agent_ref: _, ...wanted } = expected;
  return difference(withoutRepeats(actual), wanted, "metrics", { relative: 1e-9 });
}
