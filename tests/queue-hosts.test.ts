import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runGym } from "./gym-process.ts";
import { missingBroker, TestBroker } from "./support/broker.ts";
import { freePort } from "./support/free-port.ts";
import { EVALUATION, rows, sortedLines, startGym, until } from "./support/queue-runs.ts";

const missing = missingBroker();
const LATENCY = "++policy_model.responses_api_models.random_model.latency_ms";

let broker: TestBroker;

/** Shifts the clock of a program that preloads this file: `Date` is off by this many minutes. */
const shiftedClock = (minutes: number) => `
const shift = ${minutes * 60_000};
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() + shift] : given));
  }
  static now() {
    return RealDate.now() + shift;
  }
};
`;

describe.skipIf(missing !== undefined)("hosts of a distributed run", { timeout: 120_000 }, () => {
  beforeEach(async () => {
    // A client that does not read is disconnected soon.
    const config = join(await rows(0), "nats.conf");
    writeFileSync(config, 'max_payload: 65536\nmax_pending: 65536\nwrite_deadline: "500ms"\n');
    broker = new TestBroker(await freePort(), { words: ["-c", config] });
    await broker.start();
  });
  afterEach(() => broker.close());

  const worker = (...more: string[]) => ["worker", "--queue", broker.url, "--concurrency", "8", ...more];
  const run = (leaseSeconds: number, ...more: string[]) => [
    ...[...EVALUATION, "-i", "rows.jsonl", "-o", "queued.jsonl", "--queue", broker.url],
    ...[`++queue_lease_seconds=${leaseSeconds}`, ...more],
  ];
  const results = (cwd: string) => {
    const file = join(cwd, "queued.jsonl");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
  };
  const sameAsLocal = async (cwd: string) => {
    const local = await runGym([...EVALUATION, "-i", "rows.jsonl", "-o", "local.jsonl"], { cwd });
    expect(local.exitCode, local.stderr).toBe(0);
    expect(sortedLines(join(cwd, "queued.jsonl"))).toEqual(sortedLines(join(cwd, "local.jsonl")));
  };

  it("can have clocks that differ by minutes", async () => {
    const cwd = await rows(80);
    for (const minutes of [-12, 12]) {
      writeFileSync(join(cwd, `clock${minutes}.mjs`), shiftedClock(minutes));
      startGym(worker(), cwd, { NODE_OPTIONS: `--import ${join(cwd, `clock${minutes}.mjs`)}` });
    }
    // Longer than a lease, so that heartbeats are needed.
    const collector = startGym(run(2, `${LATENCY}=2500`), cwd);
    expect(await collector.ended, collector.text()).toBe(0);
    const { workers } = JSON.parse(readFileSync(join(cwd, "queued_resources.json"), "utf8"));
    const counts = Object.values<{ rollouts: number }>(workers).map(({ rollouts }) => rollouts);
    // Each rollout ran once: no lease counted as expired.
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(80);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    await sameAsLocal(cwd);
  });

  it("can freeze and continue: late results are not counted twice", async () => {
    const cwd = await rows(50);
    const frozen = startGym(worker(), cwd);
    const collector = startGym(run(6, `${LATENCY}=400`), cwd);
    await until("results", () => results(cwd) > 4);
    frozen.child.kill("SIGSTOP");
    startGym(worker(), cwd);
    // The other worker runs the rollouts that it held, after its leases have expired: longer than its request for more stays open.
    await until("most results", () => results(cwd) >= 45);
    frozen.child.kill("SIGCONT");
    expect(await collector.ended, collector.text()).toBe(0);
    await sameAsLocal(cwd);
    expect(
      existsSync(join(cwd, "queued_failures.jsonl"))
        ? readFileSync(join(cwd, "queued_failures.jsonl"), "utf8")
        : "",
    ).toBe("");
  });

  it("receive everything again from the collector if the broker lost its storage", async () => {
    const cwd = await rows(60);
    startGym(worker(), cwd);
    const collector = startGym(run(2, `${LATENCY}=600`), cwd);
    await until("results", () => results(cwd) > 4);
    await broker.close();
    await broker.start();
    expect(await collector.ended, collector.text()).toBe(0);
    expect(collector.text()).toContain("lost the messages of this run");
    await sameAsLocal(cwd);
  });

  it("wait for a missing broker for the configured time, and continue later", async () => {
    // More rollouts than the worker has taken when the broker stops.
    const cwd = await rows(120);
    const patience = "++queue_outage_seconds=3";
    const first = startGym(worker(patience), cwd);
    const collector = startGym(run(2, `${LATENCY}=300`, patience), cwd);
    await until("results", () => results(cwd) > 4);
    await broker.kill();
    expect(await first.ended, first.text()).toBe(1);
    expect(first.text()).toContain("was away for more than 3 s (queue_outage_seconds)");
    expect(await collector.ended, collector.text()).toBe(1);
    expect(collector.text()).toContain("was away for more than 3 s (queue_outage_seconds)");
    const before = results(cwd);
    expect(before).toBeLessThan(120);
    await broker.start();
    startGym(worker(), cwd);
    const resumed = await runGym(run(2, `${LATENCY}=300`, "--resume"), { cwd });
    expect(resumed.exitCode, resumed.stderr).toBe(0);
    await sameAsLocal(cwd);
  });
});
