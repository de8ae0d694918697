import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isObject } from "../../../base/python/json/door.ts";
import { fileError, invalidRow, RolloutError } from "../../errors.ts";
import { type JsonlLine, type Row, readRows } from "../../files/jsonl-rows.ts";
import { requireKey } from "../../files/row-key.ts";
import { readAtif, responseOfAtif } from "./atif-response.ts";
import { AtifManifestEntry } from "./atif-schema.ts";

/** Fields of a response that repeat the request, which a trajectory does not have. */
const REQUEST_FIELDS =
  "background instructions max_output_tokens max_tool_calls metadata parallel_tool_calls previous_response_id prompt reasoning service_tier temperature text tool_choice tools top_logprobs top_p truncation user".split(
    " ",
  );

export interface AtifSources {
  manifestPath: string;
  materializedInputsPath: string;
  /** Largest number of trajectories. */
  limit?: number;
  signal?: AbortSignal;
}

type Entry = AtifManifestEntry & { line: JsonlLine };

/**
 * The rollouts that a manifest lists, in the order of the inputs: each with the agent of its input row and the response
 * of its trajectory. A trajectory that cannot be scored, has no input or occurs twice is an error with its line.
 */
export async function* atifRollouts(sources: AtifSources): AsyncGenerator<Row> {
  const { manifestPath, materializedInputsPath, signal } = sources;
  const entries = await readManifest(sources);
  const seen = new Map<string, number>();
  for await (const { row: input, line } of readRows(materializedInputsPath, { signal })) {
    const { taskIndex, rolloutIndex } = requireKey(input, materializedInputsPath, line);
    const key = `${taskIndex}-${rolloutIndex}`;
    const entry = entries.get(key);
    if (entry === undefined) continue;
    entries.delete(key);
    try {
      yield await rolloutOf(entry, input, { manifestPath, seen });
    } catch (error) {
      if (!(error instanceof RolloutError)) throw error;
      throw invalidRow(manifestPath, entry.line, `'${entry.trajectory_path}': ${error.message}`, error);
    }
  }
  const [lost] = entries.values();
  if (lost === undefined) return;
  const { _ng_task_index: task, _ng_rollout_index: rollout } = lost;
  const problem = `rollout ${rollout} of task ${task} has no input in '${materializedInputsPath}'.`;
  throw invalidRow(manifestPath, lost.line, problem);
}

async function readManifest({ manifestPath, limit, signal }: AtifSources): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  for await (const { row, line } of readRows(manifestPath, { signal, skipBlank: true })) {
    if (entries.size >= (limit ?? Number.POSITIVE_INFINITY)) break;
    const { data, error } = AtifManifestEntry.safeParse(row);
    if (!data) {
      const [issue] = error.issues;
      throw invalidRow(manifestPath, line, `${issue?.path.join(".") || "the entry"}: ${issue?.message}.`);
    }
    const key = `${data._ng_task_index}-${data._ng_rollout_index}`;
    if (entries.has(key)) throw invalidRow(manifestPath, line, `rollout ${key} is listed twice.`);
    entries.set(key, { ...data, line });
  }
  if (entries.size > 0) return entries;
  throw new RolloutError("ROLLOUT_ATIF", `The manifest '${manifestPath}' lists no trajectories.`);
}

async function rolloutOf(
  entry: Entry,
  input: Row,
  { manifestPath, seen }: { manifestPath: string; seen: Map<string, number> },
): Promise<Row> {
  const path = resolve(dirname(manifestPath), entry.trajectory_path);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw fileError(error, path, "read");
  });
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (entry.expected_sha256 != null && entry.expected_sha256 !== digest)
    throw new RolloutError("ROLLOUT_ATIF", `has the SHA-256 ${digest}, not the one in the manifest`);
  const trajectory = readAtif(bytes.toString());
  for (const name of [path, digest, trajectory.trajectory_id?.trim()].filter((name) => name !== undefined)) {
    const other = seen.get(name);
    if (other !== undefined)
      throw new RolloutError("ROLLOUT_ATIF", `is the same trajectory as that of line ${other}`);
    seen.set(name, entry.line.number);
  }
  rejectOtherSource(trajectory.extra, entry);
  const params = input["responses_create_params"];
  const request = isObject(params) ? params : {};
  const repeated = REQUEST_FIELDS.filter((name) => Object.hasOwn(request, name));
  return {
    response: {
      ...responseOfAtif(trajectory, digest),
      ...Object.fromEntries(repeated.map((name) => [name, request[name]])),
    },
    agent_ref: input["agent_ref"],
    _ng_atif_provenance: {
      trajectory_id: trajectory.trajectory_id ?? null,
      session_id: trajectory.session_id ?? null,
      source_sha256: digest,
      schema_version: trajectory.schema_version,
      projection_status: "complete",
    },
    _ng_task_index: entry._ng_task_index,
    _ng_rollout_index: entry._ng_rollout_index,
  };
}

/** A trajectory that a gym exported names its rollout. */
function rejectOtherSource(extra: Row | null | undefined, entry: Entry): void {
  const about = isObject(extra?.["nemo_gym"]) ? extra["nemo_gym"]["source"] : undefined;
  if (!isObject(about)) return;
  for (const [name, expected] of [
    ["task_index", entry._ng_task_index],
    ["rollout_index", entry._ng_rollout_index],
  ] as const)
    if (Object.hasOwn(about, name) && about[name] !== expected)
      throw new RolloutError(
        "ROLLOUT_ATIF",
        `was exported with ${name} ${String(about[name])}, not ${expected}`,
      );
}
