import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { z } from "zod";
import { errorMessage, GymError } from "../../base/errors.ts";
import { artifactPaths, writeFileAtomically } from "../../records/files/door.ts";
import { memoryMb, processTree } from "../../servers/hosting/light-door.ts";

const SAMPLE_MS = 1_000;
/** Approximate maximum share of time spent on sampling, even on machines with many processes. */
const SAMPLING_SHARE = 0.01;
/** The program of a local sandbox. Containers and sandbox services are not in this machine's process tree. */
const SANDBOX_PROGRAM = "bwrap";

const amount = z.number().min(0);
/** Resources that a process and its descendants used while rollouts ran. */
const Figures = z.object({
  seconds: amount,
  cpu_seconds: amount,
  /** Memory before the first rollout, and the maximum of all samples. Shared memory is counted for each process. */
  idle_memory_mb: amount,
  peak_memory_mb: amount,
  /** The maximum of all samples. */
  processes: amount,
  sandboxes: amount,
  sandbox_memory_mb: amount,
  /** Number of finished rollouts, including failed attempts. */
  rollouts: amount,
  /** Mean duration of a rollout. */
  rollout_seconds: amount,
  mean_in_flight: amount,
  peak_in_flight: amount,
});
export type ResourceFigures = z.infer<typeof Figures>;

const Resources = z.object({
  schema_version: z.literal(1),
  /** Cores of the collector's machine. */
  cores: amount,
  /** Where the rollouts ran: in processes of this run, on servers started elsewhere, or in workers. */
  servers: z.enum(["own", "elsewhere", "workers"]),
  /** The collector, including its servers if it started them. */
  run: Figures,
  /** Workers by id, for as long as they served the run. */
  workers: z.record(z.string(), Figures),
});

/** `<output>_resources.json`: the resources that the last session of a run used. */
export type RunResources = z.infer<typeof Resources>;

export async function writeResources(
  path: string,
  resources: Pick<RunResources, "servers" | "run" | "workers">,
): Promise<void> {
  const text = JSON.stringify({ schema_version: 1, cores: availableParallelism(), ...resources }, null, 2);
  await writeFileAtomically(path, [`${text}\n`]);
}

/** Reads the figures of the run with this output. */
export async function readResources(output: string): Promise<RunResources> {
  const { resources: path } = artifactPaths(output);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "it does not exist" : errorMessage(error);
    throw new GymError(
      "SCALE_FIGURES",
      `The measured figures of the run, '${path}', cannot be read: ${why}. \`gym eval run -o ${output}\` writes them (on Linux).`,
      { cause: error },
    );
  }
  const parsed = Resources.safeParse(readJson(path, text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new GymError(
    "SCALE_FIGURES",
    `'${path}' does not contain the figures of a run: ${issue?.path.join(".") || "it"}: ${issue?.message}.`,
  );
}

function readJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new GymError("SCALE_FIGURES", `'${path}' is not JSON: ${errorMessage(error)}.`, { cause: error });
  }
}

/** Measures this process and its descendants once a second, from /proc. */
export class ResourceMeter {
  readonly #inFlight: () => number;
  readonly #startedAt = performance.now();
  readonly #cpuBefore: number;
  readonly #idleMemoryMb: number;
  #timer: NodeJS.Timeout | undefined;
  #cpuMs: number;
  #memoryMb: number;
  #processes = 0;
  #sandboxes = 0;
  #sandboxMemoryMb = 0;
  #peakInFlight = 0;
  #rollouts = 0;
  #rolloutMs = 0;

  /** Undefined on systems without /proc. */
  static start(inFlight: () => number): ResourceMeter | undefined {
    const first = treeNow();
    return first.processes === 0 ? undefined : new ResourceMeter(inFlight, first);
  }

  private constructor(inFlight: () => number, { cpuMs, memory }: ReturnType<typeof treeNow>) {
    this.#inFlight = inFlight;
    this.#cpuBefore = cpuMs;
    this.#cpuMs = cpuMs;
    this.#idleMemoryMb = memory;
    this.#memoryMb = memory;
    this.#sampleLater(SAMPLE_MS);
  }

  ended(milliseconds: number): void {
    this.#rollouts++;
    this.#rolloutMs += milliseconds;
  }

  figures(): ResourceFigures {
    this.#sample();
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const mean = this.#rolloutMs / 1000 / seconds;
    return {
      seconds: round(seconds),
      cpu_seconds: round((this.#cpuMs - this.#cpuBefore) / 1000),
      idle_memory_mb: round(this.#idleMemoryMb),
      peak_memory_mb: round(this.#memoryMb),
      processes: this.#processes,
      sandboxes: this.#sandboxes,
      sandbox_memory_mb: round(this.#sandboxMemoryMb),
      rollouts: this.#rollouts,
      rollout_seconds: this.#rollouts === 0 ? 0 : round(this.#rolloutMs / 1000 / this.#rollouts),
      mean_in_flight: round(mean),
      // Sampling once a second can miss the peak of a short run; the peak is at least the mean.
      peak_in_flight: Math.max(this.#peakInFlight, Math.ceil(mean)),
    };
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #sampleLater(delay: number): void {
    this.#timer = setTimeout(() => {
      const before = performance.now();
      this.#sample();
      this.#sampleLater(Math.max(SAMPLE_MS, (performance.now() - before) / SAMPLING_SHARE));
    }, delay).unref();
  }

  #sample(): void {
    const { cpuMs, memory, processes, sandboxes, sandboxMemory } = treeNow();
    this.#cpuMs = Math.max(this.#cpuMs, cpuMs);
    this.#memoryMb = Math.max(this.#memoryMb, memory);
    this.#processes = Math.max(this.#processes, processes);
    this.#sandboxes = Math.max(this.#sandboxes, sandboxes);
    this.#sandboxMemoryMb = Math.max(this.#sandboxMemoryMb, sandboxMemory);
    this.#peakInFlight = Math.max(this.#peakInFlight, this.#inFlight());
  }
}

function treeNow() {
  const tree = processTree(process.pid);
  const boxed = new Set<number>();
  let cpuMs = 0;
  let memory = 0;
  let sandboxes = 0;
  let sandboxMemory = 0;
  // Parents come before their children.
  for (const state of tree) {
    const used = memoryMb(state.pid, "VmRSS");
    cpuMs += state.cpuMs + state.endedChildrenCpuMs;
    memory += used;
    const isInside = boxed.has(state.parent);
    if (!isInside && state.name !== SANDBOX_PROGRAM) continue;
    boxed.add(state.pid);
    sandboxMemory += used;
    if (!isInside) sandboxes++;
  }
  return { cpuMs, memory, processes: tree.length, sandboxes, sandboxMemory };
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
