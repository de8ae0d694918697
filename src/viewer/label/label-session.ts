import { stat } from "node:fs/promises";
import { z } from "zod";
import { loadsPlain } from "../../base/python/json/door.ts";
import { artifactPaths, LineAccess, type Row } from "../../records/files/door.ts";
import {
  digestOfRollout,
  type JudgedRollout,
  LABELS,
  type LabelLine,
  LabelWriter,
  labelQueue,
  labelsByRollout,
  readRolloutLabels,
  strataOf,
} from "../../records/judges/door.ts";
import type { LabelState } from "../api-types.ts";
import { ViewerRequestError } from "../errors.ts";
import { InputsByTask } from "../run/task-inputs.ts";
import { labelItem } from "./label-item.ts";

export interface LabelOptions {
  /** The rollouts file, and its scored rollouts with a judge. */
  run: string;
  rollouts: readonly JudgedRollout[];
  labels: string;
  sample: number;
  seed: number;
  threshold: number;
  /** A rollout with labels of this many people is left out; undefined: everybody labels all. */
  each?: number | undefined;
  by: LabelLine["by"];
  /** The name that the page suggests. */
  labeller: string;
}

const Submission = z.strictObject({
  labeller: z.string().trim().min(1).max(100),
  task: z.number().int().min(0),
  rollout: z.number().int().min(0),
  digest: z.string(),
  label: z.enum(LABELS),
  note: z.string().max(10_000).optional(),
});

/** A queue of rollouts that people label. Its state is the labels file, so it can stop at any time and continue. */
export class LabelSession {
  readonly #options: LabelOptions;
  readonly #queue: readonly JudgedRollout[];
  readonly #inputs: InputsByTask;
  readonly #writer: LabelWriter;
  #labels: readonly LabelLine[] = [];
  #seen = "";
  #work: Promise<unknown> = Promise.resolve();

  private constructor(options: LabelOptions) {
    const { rollouts, threshold, seed, sample, run } = options;
    this.#options = options;
    this.#queue = labelQueue(strataOf(rollouts, threshold, seed), { sample, seed });
    this.#inputs = new InputsByTask(artifactPaths(run).materializedInputs);
    this.#writer = new LabelWriter(options.labels);
  }

  /** Rejects labels of another run before anybody adds some. */
  static async open(options: LabelOptions): Promise<LabelSession> {
    const session = new LabelSession(options);
    await session.#update();
    labelsByRollout(session.#labels, options.rollouts, options);
    return session;
  }

  get total(): number {
    return this.#queue.length;
  }

  /** The next rollout for a labeller, or one that they name. */
  async state(given: string | null, place?: { task: number; rollout: number }): Promise<LabelState> {
    await this.#update();
    const labeller = given?.trim() ?? "";
    const own = this.#own(labeller);
    const chosen = place
      ? this.#queue.find(({ task, rollout }) => task === place.task && rollout === place.rollout)
      : labeller === ""
        ? undefined
        : this.#queue.find((rollout) => !own.has(keyOf(rollout)) && this.#isWanted(rollout));
    if (place && !chosen)
      throw new ViewerRequestError(
        404,
        `Rollout ${place.task}-${place.rollout} is not among those to label.`,
      );
    const done = this.#queue.filter((rollout) => own.has(keyOf(rollout)));
    return {
      labeller: labeller === "" ? this.#options.labeller : labeller,
      by: this.#options.by,
      total: this.#queue.length,
      done: done.length,
      labelled: [...own.values()].map(({ _ng_task_index: task, _ng_rollout_index: rollout }) => ({
        task,
        rollout,
      })),
      item: chosen === undefined ? null : await this.#item(chosen, own.get(keyOf(chosen))),
    };
  }

  /** Writes a label; another one of the same labeller is a revision. */
  submit(body: unknown): Promise<LabelState> {
    const read = Submission.safeParse(body);
    if (!read.success) {
      const [issue] = read.error.issues;
      throw new ViewerRequestError(400, `${issue?.path.join(".")}: ${issue?.message}`);
    }
    // One at a time, so that two answers of one labeller do not get the same revision.
    const done = this.#work.then(() => this.#save(read.data));
    this.#work = done.catch(() => {});
    return done;
  }

  async #save({
    labeller,
    task,
    rollout,
    digest,
    label,
    note,
  }: z.output<typeof Submission>): Promise<LabelState> {
    await this.#update();
    const found = this.#queue.find((each) => each.task === task && each.rollout === rollout);
    if (!found) throw new ViewerRequestError(404, `Rollout ${task}-${rollout} is not among those to label.`);
    if (found.digest !== digest)
      throw new ViewerRequestError(409, `Rollout ${task}-${rollout} has changed. Load the page again.`);
    const known = this.#own(labeller).get(keyOf(found));
    await this.#writer
      .append({
        _ng_task_index: task,
        _ng_rollout_index: rollout,
        digest,
        label,
        labeller,
        by: this.#options.by,
        revision: (known?.revision ?? 0) + 1,
        ...(note !== undefined && note !== "" && { note }),
        labelled_at: new Date().toISOString(),
      })
      .catch((error: Error) => {
        throw new ViewerRequestError(409, `Not saved: ${error.message}`);
      });
    return this.state(labeller);
  }

  /** The labels of a labeller by rollout, in the order in which they were first given. */
  #own(labeller: string): Map<string, LabelLine> {
    const { by } = this.#options;
    const own = this.#labels.filter((label) => label.labeller === labeller && label.by === by);
    return new Map(own.map((label) => [`${label._ng_task_index}:${label._ng_rollout_index}`, label]));
  }

  #isWanted(rollout: JudgedRollout): boolean {
    const { each, by } = this.#options;
    if (each === undefined) return true;
    const key = keyOf(rollout);
    const given = this.#labels.filter(
      (label) => label.by === by && `${label._ng_task_index}:${label._ng_rollout_index}` === key,
    );
    return given.length < each;
  }

  async #item(chosen: JudgedRollout, label: LabelLine | undefined): Promise<LabelState["item"]> {
    const file = new LineAccess(this.#options.run);
    let row: Row;
    try {
      row = loadsPlain(file.lineAt(chosen.offset), { allowNonFinite: true }) as Row;
    } finally {
      file.close();
    }
    if (digestOfRollout(row) !== chosen.digest)
      throw new ViewerRequestError(409, "The rollouts file was replaced. Start gym judge label again.");
    const { task, rollout, digest } = chosen;
    const fields = await this.#inputs.of(task);
    return {
      place: this.#queue.indexOf(chosen) + 1,
      key: { task, rollout, digest },
      ...labelItem(row, fields),
      label: label?.label ?? null,
      note: label?.note ?? "",
    };
  }

  /** Reads the labels again if the file has changed: other labellers may write it too. */
  async #update(): Promise<void> {
    const entry = await stat(this.#options.labels).catch(() => undefined);
    const seen = entry ? `${entry.size}:${entry.mtimeMs}` : "";
    if (seen === this.#seen) return;
    this.#labels = (await readRolloutLabels([this.#options.labels])).labels;
    this.#seen = seen;
  }
}

function keyOf({ task, rollout }: JudgedRollout): string {
  return `${task}:${rollout}`;
}
