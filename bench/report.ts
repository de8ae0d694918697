import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface Measurement {
  readonly label: string;
  /** CPU milliseconds (user and system) of one operation. */
  readonly cpuMs: number;
  readonly operations: number;
}

export interface Program {
  readonly label: string;
  readonly command: readonly string[];
  readonly cwd?: string;
}

/** Collects the figures of a bench module. All ratios are within one run: no figure depends on another machine. */
export class Report {
  readonly measurements: Measurement[] = [];
  readonly checks: { readonly text: string; readonly ok: boolean }[] = [];

  add(measurement: Measurement): Measurement {
    this.measurements.push(measurement);
    return measurement;
  }

  /** CPU of this process while `operation` runs `operations` times, after one run to warm up. */
  async measure(label: string, operations: number, operation: () => unknown): Promise<Measurement> {
    await operation();
    const cpuMs = await cpuMsOf(async () => {
      for (let index = 0; index < operations; index++) await operation();
    });
    return this.add({ label, cpuMs: cpuMs / operations, operations });
  }

  /** The same for a slow operation: the minimum of several runs counts. */
  async measureLeast(label: string, runs: number, operation: () => unknown): Promise<Measurement> {
    await operation();
    let cpuMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < runs; run++) cpuMs = Math.min(cpuMs, await cpuMsOf(operation));
    return this.add({ label, cpuMs, operations: runs });
  }

  /**
   * CPU of programs, including their children. They alternate, and the minimum over the rounds counts, so that
   * other work on the machine affects all of them.
   */
  async measurePrograms(programs: readonly Program[], rounds: number, runs: number): Promise<Measurement[]> {
    const best = programs.map(() => Number.POSITIVE_INFINITY);
    for (let round = 0; round < rounds; round++) {
      for (const [index, { command, cwd }] of programs.entries()) {
        best[index] = Math.min(best[index] ?? 0, await programCpu(command, runs, cwd));
      }
    }
    return programs.map(({ label }, index) =>
      this.add({ label, cpuMs: best[index] ?? 0, operations: rounds * runs }),
    );
  }

  /** Records whether a bound was met. */
  check(text: string, ok: boolean): void {
    this.checks.push({ text, ok });
  }
}

/** CPU milliseconds (user and system) of this process while `work` runs. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const LOOP = 'i=0; while [ $i -lt "$0" ]; do "$@" >/dev/null || exit; i=$((i+1)); done; times';

/** The shell's `times` prints the CPU of everything it waited for; bash counts milliseconds, other shells clock ticks. */
async function programCpu(
  command: readonly string[],
  runs: number,
  cwd: string | undefined,
): Promise<number> {
  const { stdout } = await promisify(execFile)("bash", ["-c", LOOP, String(runs), ...command], { cwd });
  const children = stdout.trim().split("\n").at(-1) ?? "";
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(([, minutes, rest]) => {
    return Number(minutes) * 60 + Number(rest);
  });
  return (seconds.reduce((total, value) => total + value, 0) * 1000) / runs;
}
