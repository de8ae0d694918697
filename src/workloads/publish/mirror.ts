import { isDeepStrictEqual } from "node:util";
import { nodeFromPlain } from "../../config/plain-data.ts";
import { writeYaml } from "../../config/yaml/write.ts";
import { dumps } from "../../python/json/json-dumps.ts";
import type { Manifest } from "../catalog/manifest.ts";
import { type Composition, mirrored } from "./composition.ts";

type Mirror = Composition["mirror"];
type MirroredField = keyof Mirror;

export interface Difference {
  readonly field: MirroredField;
  readonly manifest: unknown;
  readonly config: unknown;
}

const FIELDS = [
  "resources_server",
  "agent_server",
  "model_server",
  "datasets",
  "rollout_driver",
  "grading_mode",
] as const satisfies readonly MirroredField[];

/** Fields of a manifest that repeat what the config says, and say something else. */
export function mirrorDifferences(manifest: Manifest, { mirror }: Composition): Difference[] {
  return FIELDS.map((field) => ({
    field,
    manifest: declared(manifest, field),
    config: mirror[field],
  })).filter((found) => !isDeepStrictEqual(found.manifest, found.config));
}

function declared(manifest: Manifest, field: MirroredField): unknown {
  if (field === "datasets") return manifest.datasets.map((dataset) => mirrored({ ...dataset }));
  const value = manifest[field];
  return value === undefined || value === null ? null : value.trim();
}

/** One line for people. */
export function differenceText({ field, manifest, config }: Difference): string {
  return `  - ${field}: manifest=${dumps(manifest, { sortKeys: true })}, config=${dumps(config, { sortKeys: true })}`;
}

/** Returns the text of a manifest with the fields brought up to date. Everything else, comments too, stays as it is. */
export function synchronized(text: string, differences: readonly Difference[]): string {
  const lines = text.replace(/\n*$/, "").split("\n");
  for (const { field, config } of differences) {
    const [start, end] = placeOf(field, lines);
    lines.splice(start, end - start, ...(config === null ? [] : fieldLines(field, config)));
  }
  return `${lines.join("\n")}\n`;
}

/** First line of a top-level field and the line after it; the end of the text where it is missing. */
function placeOf(field: string, lines: readonly string[]): [start: number, end: number] {
  const start = lines.findIndex((line) => new RegExp(`^(["']?)${field}\\1\\s*:(?:\\s|$)`).test(line));
  if (start < 0) return [lines.length, lines.length];
  const next = lines.findIndex((line, index) => index > start && /^[^\s#-]/.test(line));
  let end = next < 0 ? lines.length : next;
  // Blank lines and comments in front of the next field belong to it.
  while (end > start + 1 && /^\s*(?:#|$)/.test(lines[end - 1] ?? "")) end--;
  return [start, end];
}

function fieldLines(field: string, value: unknown): string[] {
  const origin = { source: { kind: "default", name: "config" }, line: 0, column: 0 } as const;
  return writeYaml(nodeFromPlain({ [field]: value }, origin, true))
    .trimEnd()
    .split("\n");
}
