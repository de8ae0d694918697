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

/** What a bench module hands its numbers to. All ratios are within one run: no figure depends on another machine. */
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
    const before = process.cpuUsage();
    for (let index = 0; index < operations; index++) await operation();
    const { user, system } = process.cpuUsage(before);
    return this.add({ label, cpuMs: (user + system) / 1000 / operations, operations });
  }

  /** The same for an operation that takes long: the least disturbed of several runs counts. */
  async measureLeast(label: string, runs: number, operation: () => unknown): Promise<Measurement> {
    await operation();
    let cpuMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < runs; run++) {
      const before = process.cpuUsage();
      await operation();
      const { user, system } = process.cpuUsage(before);
      cpuMs = Math.min(cpuMs, (user + system) / 1000);
    }
    return this.add({ label, cpuMs, operations: runs });
  }

  /**
   * CPU of programs, their own children included. They take turns and the least disturbed round of each counts, so that
   * whatever else the machine does falls on none of them alone.
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

  /** States whether a promised bound was kept. */
  check(text: string, ok: boolean): void {
    this.checks.push({ text, ok });
  }
}

const LOOP = 'i=0; while [ $i -lt "$0" ]; do "$@" >/dev/null || exit; i=$((i+1)); done; times';

/** The shell's `times` gives the CPU of everything it waited for; bash counts milliseconds, other shells clock ticks. */
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
