import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { type FinishedRun, finishedGym, singleToolConfig, writeRows } from "./gym-program.ts";
import type { Report } from "./report.ts";

export const name = "telemetry";

const ROLLOUTS = 4_000;
const ROUNDS = 3;
/** Of a rollout with two model calls and a tool: with default spans, and with all. Checks of rows add some. */
const SPANS = [7, 12] as const;
const DEFAULT_TIMES = 2;
const ALL_TIMES = 3;

const RANDOM_MODEL = "random_model: {entrypoint: app.ts, tool_call_rate: 1, max_tool_turns: 1}";

/** Whole runs with telemetry off, on, and on with all spans. The receiver runs in this process, which is not measured. */
export async function run(report: Report, cwd: string): Promise<void> {
  let received = 0;
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.end("{}");
      if (request.url === "/v1/traces")
        received += Buffer.concat(chunks).toString("utf8").split('"endTimeUnixNano"').length - 1;
    });
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  await writeFile(path.join(cwd, "bench.yaml"), singleToolConfig(RANDOM_MODEL));
  await writeRows(path.join(cwd, "in.jsonl"), ROLLOUTS);
  const runWith = (output: string, ...overrides: string[]) =>
    finishedGym(["eval", "run", "--config", "bench.yaml", "-i", "in.jsonl", "-o", output, ...overrides], cwd);
  const on = ["++telemetry.enabled=true", `++telemetry.otlp_endpoint=${endpoint}`];
  const runs: Record<"off" | "default" | "all", FinishedRun[]> = { off: [], default: [], all: [] };
  for (let round = 0; round < ROUNDS; round++) {
    runs.off.push(await runWith("off.jsonl"));
    runs.default.push(await runWith("on.jsonl", ...on));
    runs.all.push(await runWith("all.jsonl", ...on, "++telemetry.span_groups=all"));
  }
  receiver.closeAllConnections();
  receiver.close();
  const [off, usual, all] = [fewest(runs.off), fewest(runs.default), fewest(runs.all)];
  const operations = ROUNDS * ROLLOUTS;
  report.add({ label: "a rollout, telemetry off", cpuMs: off, operations });
  report.add({ label: "a rollout, default spans", cpuMs: usual, operations });
  report.add({ label: "a rollout, all spans", cpuMs: all, operations });
  report.check(
    `default spans: ${usual.toFixed(3)} ms (at most ${DEFAULT_TIMES} times)`,
    usual <= DEFAULT_TIMES * off,
  );
  report.check(`all spans: ${all.toFixed(3)} ms (at most ${ALL_TIMES} times)`, all <= ALL_TIMES * off);
  const least = ROUNDS * SPANS.reduce((sum, spans) => sum + ROLLOUTS * spans, 0);
  report.check(`no span was dropped: ${received} received, at least ${least} expected`, received >= least);
}

function fewest(runs: readonly FinishedRun[]): number {
  return Math.min(...runs.map(({ cpuMs }) => cpuMs)) / ROLLOUTS;
}
