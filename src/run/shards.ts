import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { shellGlob } from "../base/files/door.ts";
import { dumpsCompact, loads } from "../base/python/json/door.ts";
import { invalidRow, RolloutError } from "../records/errors.ts";
import {
  type ArtifactPaths,
  agentNameOf,
  artifactPaths,
  type ImageForm,
  imagesOf,
  LineAccess,
  lockRun,
  makeOutputDirectory,
  type Row,
  readLines,
  readRows,
  requireKey,
  storeImages,
  VERDICTS_FILE,
  writeFileAtomically,
} from "../records/files/door.ts";
import { GrowableDoubles, GrowableIntegers, RolloutKeyMap } from "../records/metrics/door.ts";
import { belongsToRun, heldAt, otherFileError, setAside } from "./earlier-results.ts";

interface Shards {
  paths: string[];
  /** Matches that are not shards: sidecars of a shard, health reports, and the target of the merge. */
  leftOut: string[];
}

/** The rollout files that comma-separated shell patterns name: sorted within each pattern, every file once. */
export async function findShards(
  patterns: string,
  directory: string,
  output: string | undefined,
): Promise<Shards> {
  const matches = new Set<string>();
  for (const pattern of patterns.split(",").map((part) => part.trim())) {
    if (pattern === "") continue;
    for (const path of await shellGlob(pattern, directory)) matches.add(resolve(directory, path));
  }
  const sidecars = new Set(
    [...matches].flatMap((path) => Object.values(artifactPaths(path)).filter((sidecar) => sidecar !== path)),
  );
  const shards: Shards = { paths: [], leftOut: [] };
  for (const path of matches) {
    if (path === output || sidecars.has(path) || basename(path) === VERDICTS_FILE) shards.leftOut.push(path);
    else shards.paths.push(path);
  }
  if (shards.paths.length === 0) {
    throw new RolloutError("ROLLOUT_FILE_MISSING", `No shards matched input_glob='${patterns}'.`);
  }
  return shards;
}

/** Digests of the lines of a file; empty without the file. */
async function linesOf(path: string): Promise<Set<string>> {
  const lines = new Set<string>();
  if (!existsSync(path)) return lines;
  for await (const { text } of readLines(path)) lines.add(digestOf(text));
  return lines;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64").slice(0, 16);
}

/** Rows of several files in the order of (task, rollout). They are read again from the files when needed. */
export class ShardedRollouts {
  private readonly paths: string[];
  private readonly tasks = new GrowableDoubles();
  private readonly rollouts = new GrowableDoubles();
  private readonly offsets = new GrowableDoubles();
  private readonly shards = new GrowableIntegers();
  /** How the shards keep their images; a merge keeps them in the same way. */
  private images: ImageForm = "inline";
  /** The agents of the rows, in order of appearance. */
  readonly agents = new Set<string>();

  private constructor(paths: string[]) {
    this.paths = paths;
  }

  /** Records the key and position of every row. Blank lines are skipped; a repeated rollout is an error. */
  static async index(paths: string[], options: { signal?: AbortSignal } = {}): Promise<ShardedRollouts> {
    const sharded = new ShardedRollouts(paths);
    const known = new RolloutKeyMap();
    for (const [shard, path] of paths.entries()) {
      for await (const { row, line } of readRows(path, {
        ...options,
        skipBlank: true,
        keepReferences: true,
      })) {
        if (sharded.images === "inline" && imagesOf(line.text).length > 0) sharded.images = "reference";
        const { taskIndex, rolloutIndex } = requireKey(row, path, line);
        const first = known.get(taskIndex, rolloutIndex);
        if (first !== undefined) {
          throw invalidRow(
            path,
            line,
            `rollout ${rolloutIndex} of task ${taskIndex} is also in '${paths[first]}'. Shards of one input have different tasks: where the input was split into files, number its rows first (\`_ng_task_index\` in each row).`,
          );
        }
        known.set(taskIndex, rolloutIndex, shard);
        const agent = agentNameOf(row);
        if (agent !== undefined) sharded.agents.add(agent);
        sharded.tasks.push(taskIndex);
        sharded.rollouts.push(rolloutIndex);
        sharded.offsets.push(line.offset);
        sharded.shards.push(shard);
      }
    }
    return sharded;
  }

  get size(): number {
    return this.tasks.length;
  }

  /** The rows in order. */
  *rows(): Generator<Row> {
    const order = Uint32Array.from({ length: this.size }, (_, index) => index);
    order.sort(
      (left, right) =>
        this.tasks.at(left) - this.tasks.at(right) || this.rollouts.at(left) - this.rollouts.at(right),
    );
    const files = this.paths.map((path) => new LineAccess(path));
    try {
      for (const index of order) {
        const file = files[this.shards.at(index)];
        if (file) yield loads(file.lineAt(this.offsets.at(index))) as Row;
      }
    } finally {
      for (const file of files) file.close();
    }
  }

  /**
   * Writes all rows into one file, as compact JSON. `onOthers` is called before a file is replaced that has lines which
   * are not among them (with `always`: in any case). It can save the file or throw.
   */
  async merge(
    path: string,
    options: { onOthers?: () => Promise<void>; always?: boolean } = {},
  ): Promise<void> {
    const rows = this.rows();
    const before = await linesOf(path);
    const { images } = this;
    const lines = async function* (): AsyncGenerator<string> {
      for (const row of rows) {
        const text = dumpsCompact(row);
        before.delete(digestOf(text));
        yield `${images === "reference" ? await storeImages(path, text) : text}\n`;
      }
    };
    const beforeReplacing = async () => {
      if (before.size > 0 || options.always) await options.onOthers?.();
    };
    await writeFileAtomically(path, lines(), { beforeReplacing });
  }
}

/**
 * Merges shards into an output without losing data: an earlier merge is replaced if the new one contains all its
 * rollouts, rollouts of another run are moved away, and an output that is one of the shards or another file is rejected.
 */
export async function replaceMerge(
  shards: ShardedRollouts,
  paths: ArtifactPaths,
  options: { matched: boolean; onNotice: (text: string) => void },
): Promise<void> {
  const { output } = paths;
  const save = async () => {
    if (options.matched) {
      throw new RolloutError(
        "ROLLOUT_OUTPUT_IS_INPUT",
        `'${output}' is one of the shards: it contains rollouts that the others do not. Choose another --output.`,
      );
    }
    options.onNotice(`'${output}' contains another run; it was moved to '${await setAside(paths)}'.`);
  };
  await makeOutputDirectory(dirname(output));
  // The files of a running run must not be moved.
  const lock = await lockRun(output);
  try {
    const held = await heldAt(paths);
    if (held === "other") throw otherFileError(output);
    const ofRun = held === "run" && (await belongsToRun(paths));
    if (ofRun && options.matched) await save();
    await shards.merge(output, { onOthers: save, always: ofRun });
  } finally {
    lock.release();
  }
}
