import { open } from "node:fs/promises";
import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { fileError, invalidRow, RolloutError, RolloutLineError } from "../errors.ts";
import { sidecarPath } from "../files/artifact-paths.ts";
import { type JsonlLine, parseRow, readLines } from "../files/jsonl-rows.ts";
import { runFileExists } from "../packed/run-file.ts";
import type { JudgedRollout } from "./judged-run.ts";

export const LABELS = ["right", "wrong", "unclear"] as const;
export type LabelName = (typeof LABELS)[number];

const Label = z.object({
  _ng_task_index: z.number().int().min(0),
  _ng_rollout_index: z.number().int().min(0),
  digest: z.string().min(1),
  label: z.enum(LABELS),
  labeller: z.string().trim().min(1).max(100),
  /** Labels of models are never counted as those of people. */
  by: z.enum(["human", "model"]),
  /** A labeller who decides again adds a line with the next number. */
  revision: z.number().int().min(1).default(1),
  note: z.string().max(10_000).optional(),
  labelled_at: z.string().optional(),
});
/** One line of a labels file. */
export type LabelLine = z.output<typeof Label>;

/** Path of the labels of a rollouts file: `<rollouts>_labels.jsonl`. */
export function labelsPath(rollouts: string): string {
  return sidecarPath(rollouts, "_labels", ".jsonl");
}

export interface RolloutLabels {
  /** The label of each labeller for each rollout: its last revision. */
  labels: LabelLine[];
  /** Lines, as `file:line`, that are incomplete because a program was killed; their labels were never confirmed. */
  torn: string[];
  /** Lines that repeat another one exactly. */
  repeated: number;
}

/**
 * Reads labels files. A missing file has no labels. Incomplete lines are reported; anything else that cannot be counted is an
 * error with file and line.
 */
export async function readRolloutLabels(
  files: readonly string[],
  options: { signal?: AbortSignal } = {},
): Promise<RolloutLabels> {
  const found: RolloutLabels = { labels: [], torn: [], repeated: 0 };
  const latest = new Map<string, { label: LabelLine; at: string }>();
  for (const file of files) {
    if (!runFileExists(file)) continue;
    for await (const line of readLines(file, options)) {
      if (line.text.trim() === "") continue;
      const at = `${file}:${line.number}`;
      const label = parsedLabel(file, line, () => found.torn.push(at));
      if (!label) continue;
      const { _ng_task_index: task, _ng_rollout_index: rollout, labeller } = label;
      const key = JSON.stringify([task, rollout, labeller, label.by]);
      const known = latest.get(key);
      if (known && known.label.revision === label.revision) {
        if (known.label.label !== label.label || known.label.digest !== label.digest)
          throw invalidRow(
            file,
            line,
            `'${labeller}' labelled rollout ${rollout} of task ${task} twice: '${known.label.label}' at ${known.at}, '${label.label}' here. Remove one of the lines, or give the later one "revision": ${label.revision + 1}.`,
          );
        found.repeated++;
      } else if (!known || known.label.revision < label.revision) latest.set(key, { label, at });
    }
  }
  found.labels = [...latest.values()].map(({ label }) => label);
  return found;
}

function parsedLabel(file: string, line: JsonlLine, onTorn: () => void): LabelLine | undefined {
  let row: unknown;
  try {
    row = parseRow(file, line);
  } catch (error) {
    if (!(error instanceof RolloutLineError) || error.code !== "ROLLOUT_ROW_NOT_JSON") throw error;
    // Only the beginning of a label can be left of a write that was interrupted.
    if (!line.text.startsWith("{")) throw error;
    onTorn();
    return undefined;
  }
  const parsed = Label.safeParse(row);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidRow(file, line, `${issue?.path.join(".") || "label"}: ${issue?.message}.`);
}

/** The labels of the rollouts of a run, by `task:rollout`. A label of another rollout is an error. */
export function labelsByRollout(
  labels: readonly LabelLine[],
  rollouts: readonly JudgedRollout[],
  files: { labels: string; run: string },
): Map<string, LabelLine[]> {
  const known = new Map(rollouts.map((each) => [`${each.task}:${each.rollout}`, each]));
  const byRollout = new Map<string, LabelLine[]>();
  for (const label of labels) {
    const key = `${label._ng_task_index}:${label._ng_rollout_index}`;
    const rollout = known.get(key);
    const name = `rollout ${label._ng_rollout_index} of task ${label._ng_task_index}`;
    if (!rollout)
      throw foreign(
        `'${files.labels}' has a label of '${label.labeller}' for ${name}, but '${files.run}' has no such scored rollout with a judge.`,
      );
    if (rollout.digest !== label.digest)
      throw foreign(
        `'${files.labels}' has a label of '${label.labeller}' for ${name}, but that rollout of '${files.run}' has another prompt or answer.`,
      );
    byRollout.set(key, [...(byRollout.get(key) ?? []), label]);
  }
  return byRollout;
}

function foreign(message: string): RolloutError {
  return new RolloutError("ROLLOUT_LABELS_FOREIGN", message);
}

/**
 * Appends labels to a file. Each is on the disk when `append` returns. A line that a killed program left incomplete is ended
 * first, so that it damages no other.
 */
export class LabelWriter {
  readonly path: string;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.path = file;
  }

  append(label: LabelLine): Promise<void> {
    const done = this.#queue.then(() => this.#write(label));
    this.#queue = done.catch(() => {});
    return done;
  }

  async #write(label: LabelLine): Promise<void> {
    try {
      const file = await open(this.path, "a+");
      try {
        const { size } = await file.stat();
        const last = Buffer.alloc(1);
        if (size > 0) await file.read(last, 0, 1, size - 1);
        const start = size > 0 && last[0] !== 0x0a ? "\n" : "";
        await file.appendFile(`${start}${JSON.stringify(Label.parse(label))}\n`);
        await file.datasync();
      } finally {
        await file.close();
      }
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === undefined
        ? new Error(errorMessage(error), { cause: error })
        : fileError(error, this.path, "write");
    }
  }
}
