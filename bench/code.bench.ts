import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import codeGen from "../resources_servers/code_gen/app.ts";
import { createTestServer, messageItem, verifyBody } from "../src/testing/index.ts";
import { cpuMsOf, type Report } from "./report.ts";

export const name = "code";

const FEW = 5;
const MANY = 45;
const ROUNDS = 3;
const OVERHEAD_MS = 15;
const VERIFICATIONS = 200;
const LAG_MS = 50;
const TICK_MS = 5;

/**
 * Runs a program and prints the CPU seconds of all its descendants. It adopts orphans: bubblewrap exits without waiting for
 * the processes inside, whose CPU time would otherwise be lost.
 */
const COUNT = `
import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
subprocess.run(sys.argv[1:], check=True)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
`;

async function cpuOf(kind: string, count: number): Promise<number> {
  const program = fileURLToPath(new URL("code-runs.js", import.meta.url));
  const args = ["-c", COUNT, process.execPath, program, kind, String(count)];
  const { stdout } = await promisify(execFile)("/usr/bin/python3", args);
  return Number(stdout) * 1000;
}

/** The CPU of one additional start: the program's own cost is in both counts and cancels out. */
async function perStart(kind: string): Promise<number> {
  const least = async (count: number) => {
    const counts: number[] = [];
    for (let round = 0; round < ROUNDS; round++) counts.push(await cpuOf(kind, count));
    return Math.min(...counts);
  };
  return ((await least(MANY)) - (await least(FEW))) / (MANY - FEW);
}

async function startOfPython(report: Report): Promise<void> {
  const [bare, sandboxed] = [await perStart("bare"), await perStart("sandboxed")];
  const operations = (MANY + FEW) * ROUNDS;
  report.add({ label: "python3 -c pass, bare", cpuMs: bare, operations });
  report.add({ label: "python3 -c pass, in an open sandbox", cpuMs: sandboxed, operations });
  const over = sandboxed - bare;
  report.check(`a sandbox adds ${over.toFixed(1)} ms of CPU (at most ${OVERHEAD_MS})`, over <= OVERHEAD_MS);
}

/**
 * The longest block of this thread's event loop. Time spent waiting for a core does not count, because it is not caused by this
 * thread; other waits count, for example while a process starts.
 */
class LoopWatch {
  readonly #delay = monitorEventLoopDelay({ resolution: TICK_MS });
  readonly #timer: NodeJS.Timeout;
  #last = performance.now();
  #waited = waitedForCore();
  held = 0;

  constructor() {
    this.#delay.enable();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Milliseconds, including waits for a core. */
  stop(): { longest: number; p99: number } {
    clearInterval(this.#timer);
    this.#delay.disable();
    return { longest: this.#delay.max / 1e6, p99: this.#delay.percentile(99) / 1e6 };
  }

  #tick(): void {
    const [now, waited] = [performance.now(), waitedForCore()];
    this.held = Math.max(this.held, now - this.#last - TICK_MS - (waited - this.#waited));
    this.#last = now;
    this.#waited = waited;
  }
}

/** Milliseconds in which the main thread was ready but did not run. */
function waitedForCore(): number {
  const [, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
  return Number(waited) / 1e6;
}

async function manyAtOnce(report: Report): Promise<void> {
  const server = await createTestServer(codeGen);
  const unit_tests = { inputs: ["1 2\n", "3 4\n"], outputs: ["3\n", "7\n"] };
  const answer = messageItem("```python\nprint(sum(map(int, input().split())))\n```");
  const body = verifyBody({ verifier_metadata: { unit_tests } }, answer);
  try {
    await Promise.all([server.verify(body), server.verify(body)]);
    const watch = new LoopWatch();
    let wrong = 0;
    const verify = async () => {
      if ((await server.verify(body)).body.reward !== 1) wrong++;
    };
    const cpuMs = await cpuMsOf(() => Promise.all(Array.from({ length: VERIFICATIONS }, verify)));
    const { longest, p99 } = watch.stop();
    const each = cpuMs / VERIFICATIONS;
    report.add({ label: "code_gen, one verification, this process", cpuMs: each, operations: VERIFICATIONS });
    report.check(`${VERIFICATIONS} verifications at once are all right`, wrong === 0);
    const [held, all, most] = [watch.held, longest, p99].map((lag) => lag.toFixed(0));
    report.check(
      `they hold the event loop for ${held} ms (at most ${LAG_MS}); with waits for a core it lagged ${all} ms (p99 ${most})`,
      watch.held < LAG_MS,
    );
  } finally {
    await server.close();
  }
}

export async function run(report: Report): Promise<void> {
  await startOfPython(report);
  await manyAtOnce(report);
}
