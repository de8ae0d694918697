/**
 * Runs the fixtures of an environment (`env:<name>`) against its definition, without a port: verify rows, single tool calls, tool
 * sequences, session steps and metrics. Formats of a single environment are in env/adapters/.
 *
 * @module
 */
import path from "node:path";
import { loadAdapter } from "./env/adapters.ts";
import { type Environment, loadEnvironmentModule } from "./env/environment-server.ts";
import { isMetricsRow, runMetricsCase } from "./env/metrics-case.ts";
import { type FixtureRow, readRows } from "./env/rows.ts";
import { runStepsCase } from "./env/steps-case.ts";
import { runToolCase, runToolSequence } from "./env/tool-case.ts";
import { runVerifyCase } from "./env/verify-case.ts";
import type { GoldenCase, Suite } from "./suite.ts";

function runRow(row: FixtureRow, environment: Environment): ReturnType<GoldenCase["run"]> {
  const own = environment.adapter.caseOf?.(row, environment);
  if (own) return own();
  if (isMetricsRow(row)) return runMetricsCase(row, environment);
  if (row["steps"] !== undefined) return runStepsCase(row, environment);
  if (row["calls"] !== undefined) return runToolSequence(row, environment);
  if (row["name"] !== undefined && row["request"] === undefined) return runToolCase(row, environment);
  if (row["request"] !== undefined) return runVerifyCase(row, environment);
  return `no way to run a row with the keys ${Object.keys(row).join(", ")}`;
}

export const suite: Suite = async (file, target) => {
  if (!target) throw new Error("The env suite needs the environment's name: env:<name>.");
  const environment = {
    name: target,
    fixtures: path.dirname(path.resolve(file)),
    adapter: await loadAdapter(target),
    ...(await loadEnvironmentModule(target)),
  };
  const rows = await (environment.adapter.rows ?? readRows)(file);
  return rows.map((row) => ({ id: row.id, run: () => runRow(row, environment) }));
};
