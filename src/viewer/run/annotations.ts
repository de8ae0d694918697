import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { statRunFile } from "../../records/door.ts";
import { annotationsPath, JsonlWriter, readAnnotations } from "../../records/files/door.ts";
import type { Annotation } from "../api-types.ts";
import { ViewerRequestError } from "../errors.ts";

const Change = z.object({
  task: z.number().int().min(0),
  rollout: z.number().int().min(0),
  labels: z.array(z.string().trim().min(1).max(100)).max(20),
  note: z.string().max(10_000),
  exclude: z.boolean(),
});

/** The annotations of a run, from the file next to its rollouts; the last line about a rollout counts. */
export class Annotations {
  readonly path: string;
  #byKey = new Map<string, Annotation>();
  #seen = "";
  #version = 0;

  constructor(rollouts: string) {
    this.path = annotationsPath(rollouts);
  }

  get version(): number {
    return this.#version;
  }

  get labels(): string[] {
    return [...new Set([...this.#byKey.values()].flatMap(({ labels }) => labels))].sort();
  }

  /** Reads the file again if it has changed. */
  async update(): Promise<void> {
    const entry = await statRunFile(this.path).catch(() => undefined);
    const seen = entry ? `${entry.size}:${entry.mtimeMs}` : "";
    if (seen === this.#seen) return;
    this.#byKey = new Map(
      [...(await readAnnotations(this.path))].map(([key, { labels, note, exclude }]) => [
        key,
        { labels, note, exclude },
      ]),
    );
    this.#seen = seen;
    this.#version++;
  }

  of(task: number, rollout: number): Annotation | undefined {
    return this.#byKey.size === 0 ? undefined : this.#byKey.get(`${task}:${rollout}`);
  }

  /** Annotates a rollout; an empty annotation removes an earlier one. */
  async note(body: unknown, exists: (task: number, rollout: number) => boolean): Promise<Annotation> {
    const change = Change.safeParse(body);
    if (!change.success) {
      const [issue] = change.error.issues;
      throw new ViewerRequestError(400, `${issue?.path.join(".")}: ${issue?.message}`);
    }
    const { task, rollout, labels, note, exclude } = change.data;
    if (!exists(task, rollout))
      throw new ViewerRequestError(404, `The run has no rollout ${task}-${rollout} (so far).`);
    const annotation = { labels: [...new Set(labels)], note, exclude };
    const line = {
      _ng_task_index: task,
      _ng_rollout_index: rollout,
      ...annotation,
      annotated_at: new Date().toISOString(),
    };
    await this.#append(JSON.stringify(line)).catch((error: unknown) => {
      throw new ViewerRequestError(409, `Not saved: ${errorMessage(error)}`);
    });
    await this.update();
    return annotation;
  }

  /** Opens the file for each line, which repairs a line that a killed program left incomplete. */
  async #append(line: string): Promise<void> {
    const file = await JsonlWriter.open(this.path, { fsync: "always" });
    try {
      await file.append(line);
    } finally {
      await file.close();
    }
  }
}
