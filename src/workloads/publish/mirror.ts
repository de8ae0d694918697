import { isDeepStrictEqual } from "node:util";
import { parseDocument } from "yaml";
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

/** The text of a manifest with the fields brought up to date; everything else, comments too, stays as it is. */
export function synchronized(text: string, differences: readonly Difference[]): string {
  const document = parseDocument(text, { version: "1.1" });
  for (const { field, config } of differences) {
    if (config === null) document.delete(field);
    else document.set(field, document.createNode(config));
  }
  return document.toString({ flowCollectionPadding: false, indentSeq: false, lineWidth: 0 });
}
