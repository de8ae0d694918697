import { z } from "zod";
import { invalidRow } from "../errors.ts";
import type { RolloutIndices } from "../metrics/rollout-row.ts";
import { runFileExists } from "../packed/run-file.ts";
import { sidecarPath } from "./artifact-paths.ts";
import { readRows } from "./jsonl-rows.ts";
import { requireKey } from "./row-key.ts";

const Annotation = z.object({
  labels: z.array(z.string()).default([]),
  note: z.string().default(""),
  /** Excludes the rollout from exports and selections. */
  exclude: z.boolean().default(false),
});

/** A user's annotation of a rollout in the viewer. */
export type RolloutAnnotation = RolloutIndices & z.output<typeof Annotation>;

/** Path of the annotations of a rollouts file: `<rollouts>_annotations.jsonl`. */
export function annotationsPath(rollouts: string): string {
  return sidecarPath(rollouts, "_annotations", ".jsonl");
}

/**
 * Reads an annotations file by `<task index>:<rollout index>`. The file is append-only, and the last line about a
 * rollout counts; an empty annotation removes it. A missing file has no annotations.
 */
export async function readAnnotations(
  path: string,
  options: { signal?: AbortSignal } = {},
): Promise<Map<string, RolloutAnnotation>> {
  const annotations = new Map<string, RolloutAnnotation>();
  if (!runFileExists(path)) return annotations;
  for await (const { row, line } of readRows(path, { ...options, skipBlank: true, onTornLine: () => {} })) {
    const { taskIndex, rolloutIndex } = requireKey(row, path, line);
    const parsed = Annotation.safeParse(row);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw invalidRow(path, line, `${issue?.path.join(".")}: ${issue?.message}.`);
    }
    const key = `${taskIndex}:${rolloutIndex}`;
    const { labels, note, exclude } = parsed.data;
    annotations.delete(key);
    if (labels.length > 0 || note !== "" || exclude)
      annotations.set(key, { taskIndex, rolloutIndex, labels, note, exclude });
  }
  return annotations;
}
