import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runGym } from "./gym-process.ts";
import { missingBroker, TestBroker } from "./support/broker.ts";
import { freePort } from "./support/free-port.ts";
import { EVALUATION, rows, sortedLines, startGym, until } from "./support/queue-runs.ts";

const missing = missingBroker();

let broker: TestBroker;

describe.skipIf(missing !== undefined)("a directory shared with workers", { timeout: 120_000 }, () => {
  beforeEach(async () => {
    broker = new TestBroker(await freePort());
    await broker.start();
  });
  afterEach(() => broker.close());

  const worker = (...more: string[]) => ["worker", "--queue", broker.url, "--concurrency", "8", ...more];
  const run = (...more: string[]) => [
    ...EVALUATION,
    ...["-i", "rows.jsonl", "-o", "shared.jsonl", "--queue", broker.url, "--store", "store", ...more],
  ];
  const stored = (cwd: string) => {
    const [directory = "none"] = existsSync(join(cwd, "store")) ? readdirSync(join(cwd, "store")) : [];
    const results = join(cwd, "store", directory, "results");
    const files = existsSync(results) ? readdirSync(results) : [];
    // Each result has two lines.
    return files.reduce(
      (sum, file) => sum + (readFileSync(join(results, file), "utf8").split("\n").length - 1) / 2,
      0,
    );
  };

  it("lets workers continue without a collector, and has all results when the collector returns", async () => {
    const cwd = await rows(80);
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=300";
    const first = startGym(run(slow), cwd);
    const alone = startGym(worker(), cwd);
    await until("results", () => stored(cwd) > 8);
    first.child.kill("SIGKILL");
    await first.ended;
    expect(
      existsSync(join(cwd, "shared.jsonl")) ? sortedLines(join(cwd, "shared.jsonl")).length : 0,
    ).toBeLessThan(80);
    // HTTP does not respond: the worker finishes the whole run through the directory.
    await until("the worker to finish", () => stored(cwd) === 80);
    alone.child.kill("SIGKILL");
    const status = await runGym(["queue", "status", "--queue", broker.url, "--json"], { cwd });
    expect(JSON.parse(status.stdout).runs).toMatchObject([{ waiting: 0 }]);

    // No worker is left, so no rollout can run twice.
    const second = await runGym(run(slow, "--resume"), { cwd });
    expect(second.exitCode, second.stderr).toBe(0);
    const local = await runGym([...EVALUATION, "-i", "rows.jsonl", "-o", "local.jsonl"], { cwd });
    expect(local.exitCode, local.stderr).toBe(0);
    expect(sortedLines(join(cwd, "shared.jsonl"))).toEqual(sortedLines(join(cwd, "local.jsonl")));
    expect(readFileSync(join(cwd, "shared_late_results.jsonl"), "utf8")).toBe("");
    expect(readdirSync(join(cwd, "store"))).toEqual([]);
  });

  it("is used by workers that can access it, and replaced by HTTP for the others", async () => {
    const cwd = await rows(60);
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=400";
    const collector = startGym(run(slow, "++queue_lease_seconds=2"), cwd);
    const blind = startGym(worker("--store", "elsewhere"), cwd);
    const output = join(cwd, "shared.jsonl");
    await until("results over HTTP", () => existsSync(output) && sortedLines(output).length > 4);
    expect(blind.text()).toContain("go through the collector");
    expect(stored(cwd)).toBe(0);
    blind.child.kill("SIGKILL");
    const seeing = startGym(worker("--store", "store"), cwd);
    await until("results in the directory", () => stored(cwd) > 0);
    expect(await collector.ended, collector.text()).toBe(0);
    expect(collector.text()).toContain(`and in ${join(cwd, "store")}`);
    expect(sortedLines(output)).toHaveLength(60);
    expect(seeing.text()).not.toContain("go through the collector");
  });

  it("must be writable, and is only for runs with workers", async () => {
    const cwd = await rows(1);
    const words = run().map((word) => (word === "store" ? "rows.jsonl" : word));
    const bad = await runGym(words, { cwd });
    expect(bad).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("rows.jsonl") });
    expect(bad.stderr).toContain("cannot be used");
    const local = await runGym([...EVALUATION, "-i", "rows.jsonl", "-o", "a.jsonl", "--store", "s"], { cwd });
    expect(local).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("add `--queue URL`") });
  });
});
