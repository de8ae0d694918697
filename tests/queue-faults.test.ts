import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { repository, runGym } from "./gym-process.ts";
import { missingBroker, TestBroker } from "./support/broker.ts";
import { TestNetwork } from "./support/network.ts";
import { sortedLines as rowsWithoutTimes } from "./support/queue-runs.ts";

const ROLLOUTS = 5_000;
const FAULTS = 32;
const WORKERS = 3;
const PORT = 4222;
/** Shorter than a partition, so that leases expire while a worker is disconnected. */
const LEASE_SECONDS = 3;
/** Longer than any fault lasts, and than a busy machine needs to start the programs again. */
const STALLED_MS = 120_000;
const EVALUATION = ["--resources-server", "example_session_state_mgmt", "--model-type", "random_model"];

const missing = missingBroker() ?? TestNetwork.problem();
if (missing !== undefined) console.warn(`The test of faults in distributed runs is left out: ${missing}.`);

let folder: string;
let network: TestNetwork;
let broker: TestBroker;
const members: Member[] = [];
type Host = ReturnType<TestNetwork["host"]>;

beforeEach(() => {
  if (missing !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), "nemo-gym-faults-"));
  const example = join(repository, "resources_servers/example_session_state_mgmt/data/example.jsonl");
  const row = JSON.parse(readFileSync(example, "utf8").split("\n")[0] ?? "") as object;
  const rows = Array.from({ length: ROLLOUTS / 2 }, (_, number) => JSON.stringify({ ...row, number }));
  writeFileSync(join(folder, "rows.jsonl"), `${rows.join("\n")}\n`);
  network = new TestNetwork();
});

afterEach(async () => {
  for (const member of members.splice(0)) await member.kill();
  await broker?.close();
  network?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A program that is restarted whenever a fault ended it. */
class Member {
  readonly host: Host;
  readonly #words: readonly string[];
  #child: ChildProcess | undefined;
  exitCode: number | null | undefined;
  log = "";

  constructor(host: Host, words: readonly string[]) {
    this.host = host;
    this.#words = words;
    members.push(this);
  }

  start(more: readonly string[] = []): void {
    const [program = "", ...words] = [
      ...this.host.inside,
      process.execPath,
      join(repository, "bin/gym.js"),
      ...this.#words,
      ...more,
    ];
    const child = spawn(program, words, {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.log = (this.log + text).slice(-4_000);
      });
    this.exitCode = undefined;
    child.once("exit", (code) => {
      if (child === this.#child) this.exitCode = code;
    });
    this.#child = child;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }
}

const logs = () => members.map(({ log }) => log).join("\n---\n");
const results = () => {
  const file = join(folder, "queued.jsonl");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
};
const sortedLines = (name: string) => rowsWithoutTimes(join(folder, name));

it.skipIf(missing !== undefined)(
  `loses and duplicates nothing in ${ROLLOUTS} rollouts with ${FAULTS} faults of workers, broker, collector and network`,
  // A second try would hide a stall, which is what this test looks for.
  { timeout: 1_200_000, retry: 0 },
  async () => {
    const brokerHost = network.host();
    broker = new TestBroker(PORT, { host: brokerHost.address, inside: brokerHost.inside });
    await broker.start();
    const model = "++policy_model.responses_api_models.random_model";
    const workers = Array.from(
      { length: WORKERS },
      () => new Member(network.host(), ["worker", "--queue", broker.url, "--concurrency", "24"]),
    );
    const words = [
      ...["eval", "run", ...EVALUATION, "-i", "rows.jsonl", "-o", "queued.jsonl", "--num-repeats", "2"],
      ...["--queue", broker.url, `++queue_lease_seconds=${LEASE_SECONDS}`, "++queue_max_deliver=100"],
      ...["--resume", `${model}.latency_ms=100`, `${model}.latency_jitter_ms=200`, "--json"],
    ];
    // The collector is resumed on another host than the one it was killed on.
    const collectors = [new Member(network.host(), words), new Member(network.host(), words)];
    let collector = collectors[0] as Member;
    await pause(500);
    collector.start();
    for (const worker of workers) worker.start();

    const counts = { worker: 0, broker: 0, collector: 0, partition: 0, frozen: 0 };
    let progress = { results: 0, at: performance.now() };
    /** Waits until the collector has ended or the run has this many results. */
    const reach = async (share: number) => {
      while (collector.exitCode === undefined && progress.results < share) {
        await pause(100);
        const found = results();
        if (found > progress.results) progress = { results: found, at: performance.now() };
        else if (performance.now() - progress.at > STALLED_MS)
          expect.fail(`no results for ${STALLED_MS / 1_000} s after ${found}:\n${logs()}`);
      }
    };
    for (let fault = 0; fault < FAULTS; fault++) {
      // Faults follow the progress of the run: each waits for its share of the results.
      await reach(Math.floor((ROLLOUTS * (fault + 1)) / (FAULTS + 2)));
      if (collector.exitCode !== undefined) break;
      const worker = workers[fault % WORKERS] as Member;
      if (fault % 8 === 3) {
        await broker.kill();
        await pause(fault % 16 === 3 ? 300 : 2_000);
        await broker.start();
        counts.broker++;
      } else if (fault % 8 === 5) {
        await collector.kill();
        collector = collectors[counts.collector % 2 === 0 ? 1 : 0] as Member;
        collector.start();
        counts.collector++;
      } else if (fault % 8 === 1) {
        worker.host.cut();
        void pause((LEASE_SECONDS + 1) * 1_000).then(() => worker.host.join());
        counts.partition++;
      } else if (fault % 8 === 7) {
        worker.signal("SIGSTOP");
        void pause((LEASE_SECONDS + 1) * 1_000).then(() => worker.signal("SIGCONT"));
        counts.frozen++;
      } else {
        await worker.kill();
        worker.start();
        counts.worker++;
      }
    }
    await reach(Number.POSITIVE_INFINITY);
    expect(collector.exitCode, logs()).toBe(0);
    expect(counts).toEqual({ worker: 16, broker: 4, collector: 4, partition: 4, frozen: 4 });
    for (const worker of workers) await worker.kill();

    const local = await runGym(
      ["eval", "run", ...EVALUATION, "-i", "rows.jsonl", "-o", "local.jsonl", "--num-repeats", "2"],
      { cwd: folder },
    );
    expect(local.exitCode, local.stderr).toBe(0);
    const keys = sortedLines("queued.jsonl").map((line) => {
      const row = JSON.parse(line) as { _ng_task_index: number; _ng_rollout_index: number };
      return `${row._ng_task_index}-${row._ng_rollout_index}`;
    });
    expect(keys).toHaveLength(ROLLOUTS);
    expect(new Set(keys).size).toBe(ROLLOUTS);
    expect(sortedLines("queued.jsonl")).toEqual(sortedLines("local.jsonl"));
    expect(
      existsSync(join(folder, "queued_failures.jsonl")) ? sortedLines("queued_failures.jsonl") : [""],
    ).toEqual([""]);
  },
);
