import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { performance } from "node:perf_hooks";
import type { JsonObject } from "../src/base/python/json/json-object.ts";
import { startServer } from "../src/cli/workloads/audit/audited-server.ts";
import { findTargets } from "../src/cli/workloads/audit/targets.ts";
import { installRoot } from "../src/config/paths.ts";
import type { Report } from "./report.ts";

export const name = "environments-rows";

/** Maximum time that a verifier may block the event loop; slower verifiers run in the worker pool. */
const LOOP_BUDGET_MS = 5;
/** They run programs for each row: starting and watching sandboxes takes CPU, in many short slices. */
const RUNS_PROGRAMS = new Set([
  ...["agentif", "bigcodebench", "bird_sql", "competitive_coding_challenges", "harbor", "job_bench"],
  ...["mini_swe_agent", "mini_swe_agent_2", "newton_bench", "scicodepile", "spider2_lite"],
]);
/** Time for one environment. Those that start programs have one pass. */
const SECONDS = 0.5;

interface Figures {
  cpuMs: number;
  loopMs: number;
  rows: number;
}

/**
 * Verifies the recorded example rollouts of every environment: with the config that it ships and with a scripted judge.
 * The CPU is that of this process with its threads; programs in the sandbox have their own.
 */
export async function run(report: Report): Promise<void> {
  const root = installRoot();
  const folder = path.join(root, "resources_servers");
  const skipped: string[] = [];
  let measured = 0;
  let slowest = { environment: "none", loopMs: 0 };
  for (const environment of (await readdir(folder)).sort()) {
    const rollouts = path.join(folder, environment, "data/example_rollouts.jsonl");
    if (!existsSync(rollouts)) continue;
    const figures = await measure(root, environment, rollouts).catch((error: unknown) => String(error));
    if (typeof figures === "string") {
      skipped.push(`${environment} (${figures.slice(0, 80)})`);
      continue;
    }
    report.add({ label: environment, cpuMs: figures.cpuMs, operations: figures.rows });
    if (RUNS_PROGRAMS.has(environment)) continue;
    measured++;
    if (figures.loopMs > slowest.loopMs) slowest = { environment, loopMs: figures.loopMs };
    if (figures.loopMs >= LOOP_BUDGET_MS)
      report.check(`${environment} holds the loop for ${figures.loopMs.toFixed(1)} ms per row`, false);
  }
  report.check(
    `${measured} verifiers hold the loop for less than ${LOOP_BUDGET_MS} ms per row (most: ${slowest.environment}, ${slowest.loopMs.toFixed(2)} ms)`,
    slowest.loopMs < LOOP_BUDGET_MS,
  );
  // They need a service, a program or a session of several turns.
  report.check(`not measured: ${skipped.length > 0 ? skipped.join("; ") : "none"}`, true);
}

/** The mean of all verifications after a first pass; a text says why there is none. */
async function measure(root: string, environment: string, rollouts: string): Promise<Figures | string> {
  const configs = path.join(root, "resources_servers", environment, "configs");
  const own = path.join(configs, `${environment}.yaml`);
  const configFile = existsSync(own) ? own : path.join(configs, (await readdir(configs)).sort()[0] ?? "");
  const [target] = await findTargets({ configFile, installRoot: root, cwd: root, env: {}, limit: 5 });
  if (!target) return "no example rows";
  const bodies = (await readFile(rollouts, "utf8"))
    .split("\n")
    .filter((line) => line !== "")
    .map((line, index) => {
      const rollout = JSON.parse(line) as JsonObject;
      const { response, responses_create_params } = rollout;
      // Results do not repeat all fields of their rows.
      return { ...rollout, ...target.rows[index], response, responses_create_params };
    });
  const server = await startServer(target.server, "accept", () => {});
  const figures = { cpuMs: 0, loopMs: 0, rows: 0 };
  try {
    const deadline = performance.now() + SECONDS * 1000;
    for (let pass = 0; pass < 2 || performance.now() < deadline; pass++) {
      for (const body of bodies) {
        const jar = server.newJar();
        await server.seed(body, jar);
        const cpu = process.cpuUsage();
        const loop = performance.eventLoopUtilization();
        const { status, text } = await server.verify(body, jar);
        if (status !== 200) return `${status} ${text}`;
        if (pass === 0) continue;
        const { user, system } = process.cpuUsage(cpu);
        const cpuMs = (user + system) / 1000;
        figures.cpuMs += cpuMs;
        // The loop is not active longer than this, and does not use more CPU than the process.
        figures.loopMs += Math.min(cpuMs, performance.eventLoopUtilization(loop).active);
        figures.rows++;
      }
    }
  } finally {
    await server.close();
  }
  const { cpuMs, loopMs, rows } = figures;
  return { cpuMs: cpuMs / rows, loopMs: loopMs / rows, rows };
}
