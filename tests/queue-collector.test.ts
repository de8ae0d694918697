import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runGym } from "./gym-process.ts";
import { missingBroker, TestBroker } from "./support/broker.ts";
import { freePort } from "./support/free-port.ts";
import { EVALUATION, rows, sortedLines, startGym, until } from "./support/queue-runs.ts";

const missing = missingBroker();
const ROLLOUTS = 40;
/** Longer than a worker on a busy machine may be unable to renew its leases, because it starts servers. */
const LEASE_SECONDS = 15;
const MODEL = "++policy_model.responses_api_models.random_model";

let broker: TestBroker;

describe.skipIf(missing !== undefined)("a collector of a distributed run", { timeout: 240_000 }, () => {
  beforeEach(async () => {
    broker = new TestBroker(await freePort());
    await broker.start();
  });
  afterEach(() => broker.close());

  const queued = (output: string, ...more: string[]) => [
    ...[...EVALUATION, "-i", "rows.jsonl", "-o", output, "--queue", broker.url, ...more],
  ];
  const worker = (...more: string[]) => ["worker", "--queue", broker.url, ...more];
  const status = async (cwd: string) =>
    JSON.parse((await runGym(["queue", "status", "--queue", broker.url, "--json"], { cwd })).stdout);
  const lines = (file: string) =>
    existsSync(file) ? sortedLines(file).filter((line) => line !== "" && line.endsWith("}")) : [];
  const tasks = (file: string) => lines(file).map((line) => JSON.parse(line)._ng_task_index as number);

  it("that is killed does not block other runs, and loses nothing when it is resumed", async () => {
    const cwd = await rows(ROLLOUTS);
    const slow = [`${MODEL}.latency_ms=500`, `++queue_lease_seconds=${LEASE_SECONDS}`];
    for (const _ of [1, 2]) startGym(worker("--concurrency", "2"), cwd);
    const killed = startGym(queued("a.jsonl", ...slow), cwd);
    await until("results", () => lines(join(cwd, "a.jsonl")).length > 4);
    killed.child.kill("SIGKILL");
    await killed.ended;
    const killedAt = performance.now();

    const other = await runGym(queued("b.jsonl"), { cwd });
    expect(other.exitCode, other.stderr).toBe(0);
    expect(new Set(tasks(join(cwd, "b.jsonl"))).size).toBe(ROLLOUTS);

    // Workers report every few seconds.
    let seen: { runs: { run: string }[]; workers: { running: number; undelivered: number }[] } = {
      runs: [],
      workers: [],
    };
    await until("the reports of workers that run nothing", async () => {
      seen = await status(cwd);
      return seen.workers.length === 2 && seen.workers.every(({ running }) => running === 0);
    });
    const { runs, workers } = seen;
    expect(runs).toMatchObject([{ name: "a.jsonl", state: "no collector" }]);
    for (const { undelivered } of workers) expect(undelivered).toBeLessThanOrEqual(2);
    const shown = await runGym(["queue", "status", "--queue", broker.url], { cwd });
    expect(shown.stdout).toContain(`gym queue purge ${runs[0]?.run}`);

    expect(workers.reduce((sum, { undelivered }) => sum + undelivered, 0)).toBeGreaterThan(0);
    // Workers renew the leases of waiting results.
    await until("the end of a lease", () => performance.now() - killedAt > LEASE_SECONDS * 1_200);
    const resumed = await runGym(queued("a.jsonl", ...slow, "--resume"), { cwd });
    expect(resumed.exitCode, resumed.stderr).toBe(0);
    const done = tasks(join(cwd, "a.jsonl"));
    expect(done).toHaveLength(ROLLOUTS);
    expect(new Set(done).size).toBe(ROLLOUTS);
    expect(lines(join(cwd, "a_failures.jsonl"))).toEqual([]);
    // Waiting results were used: none of their rollouts ran again, which would have left a late result with other times.
    // A result that the killed collector wrote, but did not confirm, arrives twice.
    const written = new Set(readFileSync(join(cwd, "a.jsonl"), "utf8").split("\n"));
    const late = join(cwd, "a_late_results.jsonl");
    const again = existsSync(late) ? readFileSync(late, "utf8").split("\n") : [];
    expect(again.filter((line) => !written.has(line))).toEqual([]);
  });

  it("reports once why workers cannot join", async () => {
    const cwd = await rows(2);
    const run = startGym(queued("secret.jsonl", `${MODEL}.api_key=very-secret`), cwd);
    for (const _ of [1, 2]) startGym(worker(), cwd);
    await until("the collector to say why", () => run.text().includes("cannot join the run: "));
    await until("both workers", async () => {
      const { workers } = await status(cwd);
      return (
        workers.filter((each: { problems: object }) => Object.keys(each.problems).length > 0).length === 2
      );
    });
    startGym(worker(`${MODEL}.api_key=its-own`), cwd);
    expect(await run.ended, run.text()).toBe(0);
    expect(run.text().match(/cannot join the run: /g)).toHaveLength(1);
    expect(run.text()).toContain(`${MODEL}.api_key=...`);
    expect(run.text()).not.toContain("very-secret");
  });

  it("rejects a shared directory that cannot be created", async () => {
    const cwd = await rows(1);
    const rejected = await runGym(queued("store.jsonl", "--store", "/proc/nope"), { cwd });
    expect(rejected.exitCode).toBe(1);
    expect(rejected.stderr).toContain("'/proc/nope");
  });
});

describe.skipIf(missing !== undefined)("gym queue up", { timeout: 120_000 }, () => {
  it("names a port that is in use, and reports when the broker answers", async () => {
    const cwd = await rows(0);
    const port = String(await freePort());
    const up = startGym(["queue", "up", "--port", port], cwd);
    await until("the broker", () => up.text().includes(`Broker at nats://127.0.0.1:${port}`));
    const status = await runGym(["queue", "status", "--queue", `nats://127.0.0.1:${port}`], { cwd });
    expect(status.exitCode, status.stderr).toBe(0);
    // Another user of this machine does not have the password.
    const elsewhere = { XDG_RUNTIME_DIR: cwd };
    const stranger = await runGym(["queue", "status", "--queue", `nats://127.0.0.1:${port}`], {
      cwd,
      env: elsewhere,
    });
    expect(stranger.stderr).toContain("rejected the login");
    const second = await runGym(["queue", "up", "--port", port], { cwd });
    expect(second.exitCode).toBe(1);
    expect(second.stderr).toContain(`Port ${port} of 127.0.0.1 is in use`);
    expect(second.stderr).not.toContain("Broker at");
    up.child.kill("SIGINT");
    expect(await up.ended).toBe(0);
  });

  it("can be started again after its broker was killed, without a fixed login: runs continue", async () => {
    const cwd = await rows(ROLLOUTS);
    const port = String(await freePort());
    const queue = ["--queue", `nats://127.0.0.1:${port}`];
    const start = async (env: Record<string, string> = {}) => {
      const up = startGym(["queue", "up", "--port", port], cwd, env);
      await until("the broker", () => up.text().includes("Broker at"));
      const [broker] = readFileSync(`/proc/${up.child.pid}/task/${up.child.pid}/children`, "utf8").split(" ");
      const kill = () => {
        process.kill(Number(broker), "SIGKILL");
        return up.ended;
      };
      return { text: up.text, kill };
    };
    const collected = () => (existsSync(join(cwd, "a.jsonl")) ? sortedLines(join(cwd, "a.jsonl")).length : 0);

    let up = await start();
    expect(up.text()).not.toContain("[WRN]");
    const gym = startGym(["worker", ...queue, "--concurrency", "1"], cwd);
    const run = startGym(
      [...EVALUATION, "-i", "rows.jsonl", "-o", "a.jsonl", ...queue, `${MODEL}.latency_ms=300`],
      cwd,
    );
    await until("results", () => collected() > 2);
    await up.kill();
    // A broker with another login rejects them for a while.
    up = await start({ NATS_USER: "other", NATS_PASSWORD: "other" });
    await until("two refusals", () => (up.text().match(/authentication error/g) ?? []).length > 4);
    await up.kill();
    up = await start();
    const before = collected();
    expect(before).toBeLessThan(ROLLOUTS);
    await until("more results", () => collected() > before);
    await up.kill();
    up = await start();
    expect(await run.ended, run.text() + gym.text()).toBe(0);
    expect(sortedLines(join(cwd, "a.jsonl"))).toHaveLength(ROLLOUTS);
    expect(gym.text()).toContain("rejected the login");
    await up.kill();
  });

  it("leaves nothing behind if the directory for its key belongs to somebody else", async () => {
    const cwd = await rows(0);
    // A file takes the place of the directory.
    writeFileSync(join(cwd, `nemo-gym-${process.getuid?.()}`), "");
    const up = await runGym(["queue", "up", "--port", String(await freePort())], {
      cwd,
      env: { TMPDIR: cwd },
    });
    expect(up.exitCode, up.stderr).toBe(1);
    expect(readdirSync(cwd).filter((name) => name.startsWith("nemo-gym-nats-"))).toEqual([]);
  });
});
