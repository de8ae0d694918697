import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { installRoot } from "../src/config/paths.ts";
import { memoryMb } from "../src/servers/hosting/processes/process-tree.ts";
import { finishedGym } from "./gym-program.ts";
import { treeCpuMs } from "./process-usage.ts";
import { median, type Report } from "./report.ts";

export const name = "queue";

const PORT = 14_333;
const ROLLOUTS = 20_000;
const QUEUE_BUDGET_MS = 0.25;
const SPEEDUP = 1.7;
const BURNED_MS = 10;
/** Large enough that the one-time loading of the servers in each worker has little effect. */
const BURNING_ROLLOUTS = 2_000;
/** Number of alternations of one worker and two; the median counts, because other programs disturb single rounds. */
const SPEEDUP_ROUNDS = 3;
const IN_FLIGHT = 100_000;
const IN_FLIGHT_WORKERS = 4;

const EVALUATION = ["eval", "run", "--resources-server", "mcqa", "--model-type", "random_model"];
const MODEL = "++policy_model.responses_api_models.random_model";

/** The cost of distributing a run, how it scales with workers, and the maximum number of rollouts in flight. */
export async function run(report: Report, cwd: string): Promise<void> {
  if (spawnSync("nats-server", ["--version"]).status !== 0) {
    report.check("nats-server is not installed: nothing was measured", false);
    return;
  }
  const broker = spawn(
    "nats-server",
    ["-js", "-sd", path.join(cwd, "nats"), "-a", "127.0.0.1", "-p", String(PORT)],
    {
      stdio: "ignore",
    },
  );
  const ended = once(broker, "exit");
  try {
    await new Promise((resolve) => setTimeout(resolve, 500));
    await overhead(report, cwd, broker);
    await speedup(report, cwd);
    await inFlight(report, cwd);
  } finally {
    broker.kill("SIGKILL");
    await ended;
  }
}

const url = `nats://127.0.0.1:${PORT}`;

function writeRows(cwd: string, count: number): string {
  const example = path.join(installRoot(), "resources_servers/mcqa/data/example.jsonl");
  const row = JSON.parse(readFileSync(example, "utf8").split("\n")[0] ?? "") as object;
  const file = path.join(cwd, `rows-${count}.jsonl`);
  const rows = Array.from({ length: count }, (_, number) => JSON.stringify({ ...row, number }));
  writeFileSync(file, `${rows.join("\n")}\n`);
  return file;
}

/** A worker, on one core if one is given. */
function startWorker(cwd: string, concurrency: number, core?: number): ChildProcess & { pid: number } {
  const gym = [
    path.join(installRoot(), "bin/gym.js"),
    "worker",
    "--queue",
    url,
    "--concurrency",
    String(concurrency),
  ];
  const [program = "", ...args] = core === undefined ? gym : ["taskset", "-c", String(core), ...gym];
  const child = spawn(program, args, { cwd, stdio: "ignore" });
  return Object.assign(child, { pid: child.pid ?? 0 });
}

/** Stops workers and waits for them, because the CPU of exited children counts for the program that runs then. */
async function end(workers: readonly ChildProcess[]): Promise<void> {
  for (const worker of workers) {
    const ended = once(worker, "exit");
    worker.kill("SIGKILL");
    await ended;
  }
}

/** CPU of all processes of a distributed run, including the broker, compared with the same run in one process. */
async function overhead(report: Report, cwd: string, broker: ChildProcess): Promise<void> {
  const rows = ["-i", writeRows(cwd, ROLLOUTS), "--disable-aggregation"];
  const few = ["-i", writeRows(cwd, 50), "--disable-aggregation"];
  const alone = async (args: string[], output: string) =>
    (await finishedGym([...EVALUATION, ...args, "--concurrency", "64", "-o", output], cwd)).cpuMs;
  const together = async (args: string[], output: string) => {
    const worker = startWorker(cwd, 64);
    const before = treeCpuMs(broker.pid ?? 0);
    const collector = await finishedGym([...EVALUATION, ...args, "-o", output, "--queue", url], cwd);
    const cpuMs = collector.cpuMs + treeCpuMs(worker.pid) + treeCpuMs(broker.pid ?? 0) - before;
    await end([worker]);
    return cpuMs;
  };
  // More processes cost more to start; the difference of two sizes is the cost of a rollout.
  const one = ((await alone(rows, "a.jsonl")) - (await alone(few, "b.jsonl"))) / (ROLLOUTS - 50);
  const queued = ((await together(rows, "c.jsonl")) - (await together(few, "d.jsonl"))) / (ROLLOUTS - 50);
  report.add({ label: "a rollout in one process", cpuMs: one, operations: ROLLOUTS });
  report.add({ label: "the same with broker, collector and worker", cpuMs: queued, operations: ROLLOUTS });
  report.check(
    `the queue costs a rollout ${(queued - one).toFixed(3)} ms CPU (budget ${QUEUE_BUDGET_MS})`,
    queued - one <= QUEUE_BUDGET_MS,
  );
}

/** An environment whose verifier uses CPU, like those that run code or compare proofs. */
const BURNING = [
  'import { defineResourcesServer } from "nemo-gym";',
  "export default defineResourcesServer({",
  "  verify: () => {",
  "    const used = () => Object.values(process.cpuUsage()).reduce((sum, part) => sum + part);",
  `    const end = used() + ${BURNED_MS * 1000};`,
  "    while (used() < end);",
  "    return { reward: 1 };",
  "  },",
  "});",
].join("\n");
const BURNING_CONFIG = {
  burning: { resources_servers: { burning: { entrypoint: "app.ts", domain: "other" } } },
  burning_agent: {
    responses_api_agents: {
      simple_agent: {
        entrypoint: "app.ts",
        resources_server: { type: "resources_servers", name: "burning" },
        model_server: { type: "responses_api_models", name: "policy_model" },
      },
    },
  },
};

/** Two workers on one core each, compared with one worker, with rollouts that use CPU. Other programs on these cores lower the figure. */
export async function speedup(report: Report, cwd: string): Promise<void> {
  const server = path.join(cwd, "resources_servers/burning");
  mkdirSync(path.join(server, "configs"), { recursive: true });
  writeFileSync(path.join(server, "app.ts"), BURNING);
  writeFileSync(path.join(server, "configs/burning.yaml"), JSON.stringify(BURNING_CONFIG));
  const args = [
    "eval",
    "run",
    "--resources-server",
    "burning",
    "--model-type",
    "random_model",
    "--disable-aggregation",
  ];
  const rows = ["-i", writeRows(cwd, BURNING_ROLLOUTS), "--queue", url];
  const ratios: number[] = [];
  for (let round = 0; round < SPEEDUP_ROUNDS; round++) {
    const seconds: number[] = [];
    for (const cores of [[0], [0, 1]]) {
      const workers = cores.map((core) => startWorker(cwd, 64, core));
      // Workers that join late would count as idle.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const output = `speed-${round}-${cores.length}.jsonl`;
      const { collectingSeconds } = await finishedGym([...args, ...rows, "-o", output], cwd);
      seconds.push(collectingSeconds);
      await end(workers);
    }
    const [one = 0, two = 1] = seconds;
    ratios.push(one / two);
  }
  const ratio = median(ratios);
  report.check(
    `2 workers on 2 cores are ${ratio.toFixed(2)} times as fast as one on one core (at least ${SPEEDUP}; single rounds ${ratios.map((each) => each.toFixed(2)).join(", ")}), with ${BURNED_MS} ms CPU a rollout`,
    ratio >= SPEEDUP,
  );
}

/** Many rollouts that wait for a slow model at the same time. */
async function inFlight(report: Report, cwd: string): Promise<void> {
  const each = IN_FLIGHT / IN_FLIGHT_WORKERS;
  const workers = Array.from({ length: IN_FLIGHT_WORKERS }, () => startWorker(cwd, each));
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  const idle = workers.reduce((sum, { pid }) => sum + memoryMb(pid, "VmRSS"), 0);
  const args = [...EVALUATION, "-i", writeRows(cwd, IN_FLIGHT), "--disable-aggregation", "--queue", url];
  const result = await finishedGym(
    [
      ...args,
      "-o",
      "many.jsonl",
      `${MODEL}.latency_ms=180000`,
      "++queue_lease_seconds=120",
      "--concurrency",
      String(IN_FLIGHT),
    ],
    cwd,
  );
  const peak = workers.reduce((sum, { pid }) => sum + memoryMb(pid, "VmHWM"), 0);
  await end(workers);
  const lines = readFileSync(path.join(cwd, "many.jsonl"), "utf8").split("\n").length - 1;
  const perRollout = ((peak - idle) * 1024) / IN_FLIGHT;
  const collector = (result.peakMb * 1024) / IN_FLIGHT;
  report.check(
    `${IN_FLIGHT} rollouts in flight in ${IN_FLIGHT_WORKERS} workers: ${IN_FLIGHT - lines} lost, ${perRollout.toFixed(1)} kB each in workers, ${collector.toFixed(1)} kB in the collector, ${result.seconds.toFixed(0)} s`,
    lines === IN_FLIGHT,
  );
}
