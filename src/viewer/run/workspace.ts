import path from "node:path";
import { BoardReader, type Optimization, packedRunOf, readOptimization } from "../../records/door.ts";
import { type FoundRun, filesOf, findRuns } from "../../records/files/door.ts";
import type { RunEntry, RunsAnswer, ShownBoard } from "../api-types.ts";
import { shownBoard } from "../board-shown.ts";
import { ViewerRequestError } from "../errors.ts";
import { entryOfFiles, entryOfRun } from "./run-entry.ts";
import { ViewedRun } from "./viewed-run.ts";

/** Maximum number of open runs; the least recently used one is closed. */
const OPEN_RUNS = 6;
/** Interval between scans of the directories. */
const FIND_AGAIN_MS = 5_000;
const AT_ONCE = 32;

/** The runs that the viewer shows. Runs that are being viewed are open and followed. */
export class Workspace {
  readonly #given: readonly string[];
  readonly #copies: ReadonlyMap<string, string>;
  #root = "";
  #runs = new Map<string, FoundRun>();
  #others: string[] = [];
  /** Directories of optimizations, by their paths relative to the root. */
  #optimizations = new Map<string, string>();
  #foundAt = 0;
  readonly #board = new BoardReader();
  readonly #open = new Map<string, ViewedRun>();

  private constructor(given: readonly string[], copies: ReadonlyMap<string, string>) {
    this.#given = given;
    this.#copies = copies;
  }

  /**
   * Finds the runs in files and directories; rejects paths without runs. `copies` maps temporary copies to their
   * sources.
   */
  static async open(
    given: readonly string[],
    copies: ReadonlyMap<string, string> = new Map(),
  ): Promise<Workspace> {
    const workspace = new Workspace(given, copies);
    await workspace.#find();
    return workspace;
  }

  get root(): string {
    return this.#root;
  }

  get size(): number {
    return this.#runs.size;
  }

  /** The ids of all runs, in the order of the given paths. */
  get ids(): string[] {
    return [...this.#runs.keys()];
  }

  /** The only run; undefined if there are several. */
  get only(): FoundRun | undefined {
    return this.#runs.size === 1 ? [...this.#runs.values()][0] : undefined;
  }

  /** The address or path that the rollouts of a run were copied from. */
  originOf({ rollouts }: FoundRun): string | undefined {
    return this.#copies.get(rollouts) ?? packedRunOf(rollouts);
  }

  /** All runs, newest first. */
  async list(): Promise<RunsAnswer> {
    if (performance.now() - this.#foundAt > FIND_AGAIN_MS) await this.#find().catch(() => {});
    const entries: RunEntry[] = [];
    const all = [...this.#runs.values()];
    for (let at = 0; at < all.length; at += AT_ONCE) {
      const some = all.slice(at, at + AT_ONCE);
      entries.push(...(await Promise.all(some.map((found) => this.#entry(found)))));
    }
    entries.sort((a, b) => (a.when < b.when ? 1 : a.when > b.when ? -1 : a.id < b.id ? -1 : 1));
    const optimizations = [...this.#optimizations.keys()];
    const single = this.#runs.size === 1 && optimizations.length === 0;
    return { root: this.#root, runs: entries, optimizations, single, static: false };
  }

  /** The board of all runs. Runs that have not changed since the last board are not read again. */
  async board(signal?: AbortSignal): Promise<ShownBoard> {
    if (performance.now() - this.#foundAt > FIND_AGAIN_MS) await this.#find().catch(() => {});
    return shownBoard(await this.#board.read([...this.#runs.values()], this.#others, { signal }));
  }

  /** What an optimization tried so far. */
  async optimization(id: string, signal?: AbortSignal): Promise<Optimization> {
    // It may be newer than the last scan.
    if (!this.#optimizations.has(id)) await this.#find().catch(() => {});
    const directory = this.#optimizations.get(id);
    if (directory === undefined) throw new ViewerRequestError(404, `There is no optimization '${id}'.`);
    return readOptimization(directory, signal);
  }

  async #entry(found: FoundRun): Promise<RunEntry> {
    const open = this.#open.get(found.id);
    if (open && !open.indexing) return entryOfRun(open);
    const entry = await entryOfFiles(found);
    return { ...entry, path: this.originOf(found) ?? entry.path };
  }

  /** A run by its id, opened on demand; without an id, the only run. Waits for the first look at its files. */
  async run(id: string | null): Promise<ViewedRun> {
    if (id !== null && !this.#runs.has(id)) await this.#find().catch(() => {});
    const found = id === null ? this.only : this.#runs.get(id);
    if (found === undefined) {
      if (id === null)
        throw new ViewerRequestError(400, "Add run=ID to the request. /api/runs lists the runs.");
      throw new ViewerRequestError(404, `There is no run '${id}' in the list of runs.`);
    }
    const known = this.#open.get(found.id);
    const run = known ?? new ViewedRun(found.id, filesOf(found.rollouts), this.originOf(found));
    this.#open.delete(found.id);
    this.#open.set(found.id, run);
    run.start();
    for (const [oldest, other] of this.#open) {
      if (this.#open.size <= OPEN_RUNS) break;
      this.#open.delete(oldest);
      void other.close();
    }
    await run.opened();
    return run;
  }

  /** A run whose files have been read to their end. */
  async readRun(id: string | null, signal?: AbortSignal): Promise<ViewedRun> {
    const run = await this.run(id);
    await run.read(signal);
    return run;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((run) => run.close()));
  }

  async #find(): Promise<void> {
    const { root, runs, others, optimizations } = await findRuns(this.#given);
    this.#others = others;
    this.#foundAt = performance.now();
    this.#root = root;
    this.#runs = new Map(runs.map((run) => [run.id, run]));
    // The root itself is ".".
    this.#optimizations = new Map(
      optimizations.map((directory) => [path.relative(root, directory) || ".", directory]),
    );
  }
}
