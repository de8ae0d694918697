import { type Profiler, Session } from "node:inspector";
import { dirname, join, resolve } from "node:path";
import type { Logger } from "../../../base/door.ts";
import { errorMessage, GymError } from "../../../base/errors.ts";
import { makeDirectory, replaceFile } from "../../../base/files/door.ts";
import { workingRoot } from "../../../config/paths.ts";
import { Reply } from "../../calls/server-call.ts";
import type { ServerApp } from "../app.ts";

const SAMPLE_MICROSECONDS = 1_000;
/** Samples are collected in parts. The oldest part is dropped, so that a profile covers at most the last hour. */
const PART_MS = 10 * 60_000;
const MAX_PARTS = 6;

/** Directory of the profiles; undefined when profiling is off. */
export function profileDirectory(
  config: Readonly<Record<string, unknown>>,
  installRoot: string,
): string | undefined {
  const { profiling_enabled: enabled = false, profiling_results_dirpath: directory } = config;
  if (enabled === null || enabled === false) return undefined;
  if (enabled !== true)
    throw new GymError(
      "SERVER_CONFIG",
      `profiling_enabled is ${JSON.stringify(enabled)}; it must be true or false.`,
    );
  if (typeof directory !== "string" || directory === "")
    throw new GymError(
      "SERVER_CONFIG",
      "profiling_enabled needs a directory: set profiling_results_dirpath, e.g. ++profiling_results_dirpath=results/profiles.",
    );
  return resolve(workingRoot(process.cwd(), installRoot), directory);
}

/** Samples the CPU use of this process in the format of browsers and editors (`.cpuprofile`). */
class ProcessProfiler {
  readonly #session = new Session();
  readonly #parts: Profiler.Profile[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.setSamplingInterval", { interval: SAMPLE_MICROSECONDS });
    this.#session.post("Profiler.start");
    this.#timer = setInterval(() => this.#takePart(), PART_MS).unref();
  }

  /** Writes all samples so far, atomically. */
  async write(file: string): Promise<void> {
    this.#takePart();
    const text = JSON.stringify(joinProfiles(this.#parts));
    await makeDirectory(dirname(file));
    await replaceFile(file, text);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#session.disconnect();
  }

  /** Within one thread the inspector answers before `post` returns. */
  #takePart(): void {
    this.#session.post("Profiler.stop", (error, { profile }) => {
      if (!error) this.#parts.push(profile);
    });
    this.#session.post("Profiler.start");
    if (this.#parts.length > MAX_PARTS) this.#parts.shift();
  }
}

/** Joins consecutive profiles; calls from the same place become one node. */
export function joinProfiles(parts: readonly Profiler.Profile[]): Profiler.Profile {
  const tree = new CallTree();
  const samples: number[] = [];
  const timeDeltas: number[] = [];
  let end: number | undefined;
  for (const { nodes, samples: taken = [], timeDeltas: deltas = [], startTime } of parts) {
    const joined = tree.add(nodes);
    for (const [index, sample] of taken.entries()) {
      samples.push(joined.get(sample) ?? 1);
      // Deltas are relative to the start of their part.
      const gap = index === 0 && end !== undefined ? startTime - end : 0;
      timeDeltas.push((deltas[index] ?? 0) + gap);
    }
    end = startTime + deltas.reduce((sum, delta) => sum + delta, 0);
  }
  const startTime = parts[0]?.startTime ?? 0;
  return { nodes: tree.nodes, samples, timeDeltas, startTime, endTime: parts.at(-1)?.endTime ?? startTime };
}

class CallTree {
  readonly nodes: Profiler.ProfileNode[] = [];
  readonly #known = new Map<string, Profiler.ProfileNode>();

  /** Adds nodes. Returns the new id of each. */
  add(nodes: readonly Profiler.ProfileNode[]): Map<number, number> {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const ids = new Map<number, number>();
    const [root] = nodes;
    const open: { node: Profiler.ProfileNode; parent: Profiler.ProfileNode | undefined }[] = root
      ? [{ node: root, parent: undefined }]
      : [];
    for (let next = open.pop(); next; next = open.pop()) {
      const own = this.#node(next.node, next.parent);
      ids.set(next.node.id, own.id);
      for (const id of next.node.children ?? []) {
        const child = byId.get(id);
        if (child) open.push({ node: child, parent: own });
      }
    }
    return ids;
  }

  #node(node: Profiler.ProfileNode, parent: Profiler.ProfileNode | undefined): Profiler.ProfileNode {
    const { functionName, scriptId, lineNumber, columnNumber } = node.callFrame;
    const key = `${parent?.id ?? 0} ${scriptId}:${lineNumber}:${columnNumber} ${functionName}`;
    const known = this.#known.get(key);
    if (known) {
      known.hitCount = (known.hitCount ?? 0) + (node.hitCount ?? 0);
      return known;
    }
    const { children: _children, ...rest } = node;
    const added: Profiler.ProfileNode = { ...rest, id: this.nodes.length + 1, children: [] };
    this.nodes.push(added);
    this.#known.set(key, added);
    parent?.children?.push(added.id);
    return added;
  }
}

/** Profiles of the servers in this process: `GET /stats` of each server writes its file, and closing writes all files. */
export class ServerProfiles {
  readonly #profiler = new ProcessProfiler();
  readonly #files = new Map<string, string>();
  readonly #logger: (server: string) => Logger;

  constructor(
    apps: ReadonlyMap<string, ServerApp>,
    directory: string,
    suffix: string,
    logger: (server: string) => Logger,
  ) {
    this.#logger = logger;
    for (const app of apps.values()) {
      const file = join(directory, app.cookie.name, `${app.name.replaceAll("/", "_")}${suffix}.cpuprofile`);
      this.#files.set(app.name, file);
      logger(app.name).info(`its profile goes to ${file}`);
      app.addGet("/stats", async () => {
        await this.#profiler.write(file);
        return new Reply({ raw: "" });
      });
    }
  }

  async close(): Promise<void> {
    for (const [server, file] of this.#files)
      await this.#profiler
        .write(file)
        .catch((error: unknown) =>
          this.#logger(server).error(`its profile was not written: ${errorMessage(error)}`),
        );
    this.#profiler.stop();
  }
}
