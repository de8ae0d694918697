import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ResourceMeter, readResources } from "./resources.ts";

it.each([
  ["not JSON", /out_resources\.json' is not JSON: /],
  ["[]", /does not contain the figures of a run: it: /],
])("reports an invalid file of figures: %s", async (text, says) => {
  const directory = await mkdtemp(join(tmpdir(), "resources-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, "out_resources.json"), text);
  await expect(readResources(join(directory, "out.jsonl"))).rejects.toThrow(says);
});

it.skipIf(process.platform !== "linux")(
  "counts CPU and memory of processes that rollouts start",
  async () => {
    const meter = ResourceMeter.start(() => 7);
    onTestFinished(() => meter?.close());
    const before = meter?.figures();
    // One process that has ended by the time of the sample, and one that still runs.
    const work =
      "const b = Buffer.alloc(50e6, 1); const t = process.cpuUsage().user; while (process.cpuUsage().user - t < 1e5);";
    const ended = spawn(process.execPath, ["-e", work]);
    await new Promise((resolve) => ended.once("exit", resolve));
    const waiting = spawn(process.execPath, [
      "-e",
      `${work} console.log("done"); setInterval(() => b.length, 1e6)`,
    ]);
    onTestFinished(() => void waiting.kill("SIGKILL"));
    await new Promise((resolve) => waiting.stdout.once("data", resolve));
    meter?.ended(400);
    meter?.ended(800);
    const figures = meter?.figures();
    expect((figures?.cpu_seconds ?? 0) - (before?.cpu_seconds ?? 0)).toBeGreaterThan(0.18);
    expect((figures?.peak_memory_mb ?? 0) - (figures?.idle_memory_mb ?? 0)).toBeGreaterThan(50);
    expect(figures?.processes).toBeGreaterThanOrEqual(2);
    expect(figures).toMatchObject({ rollouts: 2, rollout_seconds: 0.6, peak_in_flight: 7, sandboxes: 0 });
  },
);
