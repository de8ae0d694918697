import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type FinishedRun, finishedGym, singleToolConfig, writeRows } from "./gym-program.ts";
import { median, type Report } from "./report.ts";

export const name = "rollouts";

const ROLLOUTS = 20_000;
const COHOSTED_MS = 0.8;
const ROUNDS = 7;

const IN_FLIGHT = 5_000;
const LATENCY_MS = 500;
const SHARE_OF_IDEAL = 0.8;

const WAVE = 1_000;
const WAVE_SHARE_OF_IDEAL = 0.65;

const LONG_ROWS = 1_000_000;
const LONG_MB = 400;

const RANDOM_MODEL = "random_model: {entrypoint: app.ts, tool_call_rate: 1, max_tool_turns: 1}";

const NO_OP_AGENT = `
import { defineAgent } from "nemo-gym";
export default defineAgent({
  responses: () => Promise.reject(new Error("it only runs")),
  run: () => ({ reward: 1, response: { output: [] } }),
});
`;
const NO_OP_CONFIG = "noop_agent:\n  responses_api_agents:\n    noop: {entrypoint: app.ts}\n";

/** The cost of whole runs: the command from start to metrics, including files. */
export async function run(report: Report, cwd: string): Promise<void> {
  await writeFile(path.join(cwd, "bench.yaml"), singleToolConfig(RANDOM_MODEL));
  await writeRows(path.join(cwd, "in.jsonl"), ROLLOUTS);
  await measureRuns(report, cwd);
  await measureWave(report, cwd);
  if (process.env["BENCH_LONG"] === "1") await measureMillion(report, cwd);
  else report.check("(1,000,000 rows: with BENCH_LONG=1 only)", true);
}

const evalRun = ["eval", "run", "--config", "bench.yaml", "-i", "in.jsonl", "-o"];
const slow = `++policy_model.responses_api_models.random_model.latency_ms=${LATENCY_MS}`;

/**
 * Many rollouts that wait for their model must not slow down the others. Both kinds of run alternate. The minimum of the CPU time
 * counts, because other work on the machine can only add to it. Rates are compared within each round, because the machine may be
 * faster in the next one, and the median of the rounds counts.
 */
async function measureRuns(report: Report, cwd: string): Promise<void> {
  const plain: FinishedRun[] = [];
  const waiting: FinishedRun[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    plain.push(await finishedGym([...evalRun, "out.jsonl"], cwd));
    const args = [...evalRun, "waiting.jsonl", "--concurrency", String(IN_FLIGHT), slow];
    waiting.push(await finishedGym(args, cwd));
  }
  const each = least(plain, "cpuMs") / ROLLOUTS;
  report.add({ label: "a rollout, co-hosted", cpuMs: each, operations: ROUNDS * ROLLOUTS });
  const cpuMs = least(waiting, "cpuMs") / ROLLOUTS;
  report.add({ label: `a rollout, ${IN_FLIGHT} in flight`, cpuMs, operations: ROUNDS * ROLLOUTS });
  const withoutLatency = ROLLOUTS / median(plain.map((run) => run.collectingSeconds));
  report.check(
    `${ROLLOUTS} rollouts co-hosted: ${each.toFixed(3)} ms CPU each (at most ${COHOSTED_MS}), ` +
      `${Math.round(withoutLatency)} a second, ${Math.round(least(plain, "peakMb"))} MB`,
    each <= COHOSTED_MS,
  );
  // Each rollout waits for two model responses. The first and the last responses are delayed by the latency.
  const rolloutSeconds = (2 * LATENCY_MS) / 1000;
  const byLatency = IN_FLIGHT / rolloutSeconds;
  const rates = waiting.map((run) => ROLLOUTS / (run.collectingSeconds - rolloutSeconds));
  const shares = rates.map(
    (rate, round) => rate / Math.min(byLatency, ROLLOUTS / (plain[round]?.collectingSeconds ?? Number.NaN)),
  );
  const share = median(shares);
  report.check(
    `${IN_FLIGHT} in flight, ${LATENCY_MS} ms latency: ${Math.round(median(rates))} rollouts a second, ${percent(share)} of the ideal ` +
      `(${Math.round(byLatency)} by latency, ${Math.round(withoutLatency)} without; at least ${percent(SHARE_OF_IDEAL)}; ` +
      `rounds: ${shares.map(percent).join(", ")})`,
    share >= SHARE_OF_IDEAL,
  );
}

/** All rollouts start at once in a new process. Ideal is twice the latency, because each rollout waits for two responses. */
async function measureWave(report: Report, cwd: string): Promise<void> {
  const idealSeconds = (2 * LATENCY_MS) / 1000;
  const shares: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const args = [...evalRun, "wave.jsonl", "--limit", String(WAVE), "--concurrency", String(WAVE), slow];
    shares.push(idealSeconds / (await finishedGym(args, cwd)).collectingSeconds);
  }
  const share = median(shares);
  report.check(
    `a wave of ${WAVE} at once, ${LATENCY_MS} ms latency: ${percent(share)} of the ideal rate ` +
      `(at least ${percent(WAVE_SHARE_OF_IDEAL)}; rounds: ${shares.map(percent).join(", ")})`,
    share >= WAVE_SHARE_OF_IDEAL,
  );
}

const percent = (share: number) => `${Math.round(100 * share)} %`;

function least(runs: readonly FinishedRun[], figure: keyof FinishedRun): number {
  return Math.min(...runs.map((run) => run[figure]));
}

async function measureMillion(report: Report, cwd: string): Promise<void> {
  const agent = path.join(cwd, "responses_api_agents", "noop");
  await mkdir(agent, { recursive: true });
  await writeFile(path.join(agent, "app.ts"), NO_OP_AGENT);
  await writeFile(path.join(cwd, "noop.yaml"), NO_OP_CONFIG);
  await writeRows(path.join(cwd, "million.jsonl"), LONG_ROWS);
  const args = ["eval", "run", "--config", "noop.yaml", "-i", "million.jsonl", "-o", "million_out.jsonl"];
  const { cpuMs, peakMb } = await finishedGym(args, cwd);
  report.add({ label: "a rollout of a no-op agent", cpuMs: cpuMs / LONG_ROWS, operations: LONG_ROWS });
  report.check(
    `${LONG_ROWS} rows: ${Math.round(peakMb)} MB at the most (at most ${LONG_MB})`,
    peakMb <= LONG_MB,
  );
}
