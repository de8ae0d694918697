import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { dumpsCompact, isObject, type JsonObject } from "../../base/python/json/door.ts";
import { maskSecrets } from "../../base/secrets.ts";
import { fileError, RolloutError } from "../errors.ts";
import { readRunFile } from "../packed/run-file.ts";
import { artifactPaths } from "./artifact-paths.ts";
import { writeFileAtomically } from "./atomic-file.ts";
import type { Row } from "./jsonl-rows.ts";

/** Incremented when the files of a run change in a way that an older or newer version cannot resume. */
const RUN_SCHEMA_VERSION = 1;

const Digest = z.object({ path: z.string(), bytes: z.number(), sha256: z.string() });

const Manifest = z.object({
  schema_version: z.number().int(),
  created_at: z.string(),
  gym_version: z.string(),
  input: Digest.nullable(),
  materialized_inputs: Digest.extend({ rows: z.number().int(), tasks: z.number().int() }),
  config: z.record(z.string(), z.unknown()),
  /** Who judges, by the config. Rows name the models that answered. */
  judges: z
    .array(
      z.object({
        environment: z.string(),
        key: z.string(),
        server: z.string(),
        model: z.string().nullable(),
      }),
    )
    .optional(),
});

/**
 * The inputs and settings of a run, stored next to its output so that a resumed run can check that they are the same.
 */
export type RunManifest = z.infer<typeof Manifest>;
export type FileDigest = z.infer<typeof Digest>;

/** Size and SHA-256 of a file. */
export async function digestFile(path: string, options: { signal?: AbortSignal } = {}): Promise<FileDigest> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path, options) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch (error) {
    throw fileError(error, path, "read");
  }
  return { path, bytes, sha256: hash.digest("hex") };
}

/** Creates a manifest; `config` holds the keys that affect the results. Secrets are masked. */
export function createManifest(parts: {
  createdAt: Date;
  gymVersion: string;
  input: FileDigest | null;
  materializedInputs: FileDigest & { rows: number; tasks: number };
  config: Row;
}): RunManifest {
  const { path, bytes, sha256, rows, tasks } = parts.materializedInputs;
  return {
    schema_version: RUN_SCHEMA_VERSION,
    created_at: parts.createdAt.toISOString(),
    gym_version: parts.gymVersion,
    input: parts.input,
    materialized_inputs: { path, bytes, sha256, rows, tasks },
    config: storedConfig(parts.config),
    judges: judgesOfConfig(parts.config),
  };
}

/** The model servers that judge for environments: those that a key about a judge refers to. */
export function judgesOfConfig(config: JsonObject): NonNullable<RunManifest["judges"]> {
  const servers = isObject(config["servers"]) ? config["servers"] : {};
  return Object.entries(servers).flatMap(([environment, block]) => {
    if (!isObject(block) || block["type"] !== "resources_servers") return [];
    return Object.entries(block).flatMap(([key, value]) => {
      const name = isObject(value) ? value["name"] : value;
      const model = typeof name === "string" ? servers[name] : undefined;
      if (!JUDGE_KEY.test(key) || !isObject(model) || model["type"] !== "responses_api_models") return [];
      return [{ environment, key, server: String(name), model: modelName(model) }];
    });
  });
}

const JUDGE_KEY = /judge|grader|rubric|genrm/i;

/** A config as a reader of the manifest sees it, so that the two are comparable. Secrets are masked. */
export function storedConfig(config: Row): Row {
  return JSON.parse(dumpsCompact(maskSecrets(config))) as Row;
}

export async function writeManifest(path: string, manifest: RunManifest): Promise<void> {
  await writeFileAtomically(path, [`${dumpsCompact(manifest, { indent: 2 })}\n`]);
}

/** Reads a manifest; undefined if it does not exist. */
export async function readManifest(path: string): Promise<RunManifest | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw fileError(error, path, "read");
  }
  try {
    return Manifest.parse(JSON.parse(text));
  } catch (error) {
    throw new RolloutError(
      "ROLLOUT_MANIFEST_INVALID",
      `The run manifest '${path}' is not valid: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

/** The inputs and settings of the resumed run; omitted parts are not compared. */
interface CurrentRun {
  input?: FileDigest | null;
  materializedInputs?: FileDigest;
  config?: Row;
}

/** Describes how the current run differs from that of the manifest; empty when they are the same. */
export function compareManifest(manifest: RunManifest, current: CurrentRun): string[] {
  const differences: string[] = [];
  if (manifest.schema_version !== RUN_SCHEMA_VERSION) {
    differences.push(
      `its files have schema version ${manifest.schema_version}, this program writes ${RUN_SCHEMA_VERSION}`,
    );
  }
  if (current.input !== undefined) differences.push(...inputDifferences(manifest.input, current.input));
  const inputs = current.materializedInputs;
  if (inputs && inputs.sha256 !== manifest.materialized_inputs.sha256) {
    differences.push(
      `the materialized inputs '${inputs.path}' were changed after the run began ` +
        `(${manifest.materialized_inputs.bytes} bytes then, ${inputs.bytes} now)`,
    );
  }
  if (current.config)
    differences.push(...valueDifferences(manifest.config, storedConfig(current.config), ""));
  return differences;
}

function inputDifferences(before: FileDigest | null, now: FileDigest | null): string[] {
  if (before === null || now === null) {
    return before === now ? [] : [`the input was ${before?.path ?? "none"}, is ${now?.path ?? "none"}`];
  }
  if (before.sha256 === now.sha256) return [];
  if (before.path !== now.path) return [`the input was '${before.path}', is '${now.path}', and they differ`];
  return [`the input '${now.path}' has changed (${before.bytes} bytes then, ${now.bytes} now)`];
}

/** Describes how two values differ, each difference with its path. */
export function valueDifferences(before: unknown, now: unknown, path: string): string[] {
  if (isObject(before) && isObject(now)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    return keys.flatMap((key) =>
      valueDifferences(before[key], now[key], path === "" ? key : `${path}.${key}`),
    );
  }
  const [left, right] = [show(before), show(now)];
  return left === right ? [] : [`${path} was ${left}, is ${right}`];
}

const MAX_SHOWN_CHARACTERS = 200;

function show(value: unknown): string {
  if (value === undefined) return "not set";
  const text = JSON.stringify(value);
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  // Truncated texts must still differ if the values do.
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${digest})`;
}

/** Keys for the model name in model servers, most specific first. */
const MODEL_KEYS = [
  "openai_model",
  "model",
  "model_name",
  "anthropic_model",
  "azure_deployment",
  "implementation",
];

/** The model of a run from the config in its manifest: that of `policy_model`, else of the first model server. */
export function modelOfConfig(config: JsonObject): string | null {
  const servers = isObject(config["servers"]) ? config["servers"] : {};
  let model: string | null = null;
  for (const [name, server] of Object.entries(servers)) {
    if (!isObject(server) || server["type"] !== "responses_api_models") continue;
    if (model === null || name === "policy_model") model = modelName(server);
  }
  return model;
}

function modelName(server: JsonObject): string | null {
  for (const key of MODEL_KEYS) {
    const value = server[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** The environment (resources server) of each agent, from the config in a manifest. */
export function environmentsOfConfig(config: JsonObject): Map<string, string> {
  const servers = isObject(config["servers"]) ? config["servers"] : {};
  const environments = new Map<string, string>();
  for (const [name, server] of Object.entries(servers)) {
    const reference = isObject(server) ? server["resources_server"] : undefined;
    const environment = isObject(reference) ? reference["name"] : undefined;
    if (typeof environment === "string") environments.set(name, environment);
  }
  return environments;
}

/** The model of a rollouts file; null if no manifest names one. */
export async function modelOfRun(rollouts: string): Promise<string | null> {
  const { config } = await readManifestLoosely(artifactPaths(rollouts).manifest);
  return isObject(config) ? modelOfConfig(config) : null;
}

/** Larger manifests are not shown. */
const MAX_SHOWN_BYTES = 8 * 1024 * 1024;

/** The content of a manifest that is only shown. Rollouts of other programs have none, so all errors are ignored. */
export async function readManifestLoosely(path: string): Promise<JsonObject> {
  try {
    const manifest: unknown = JSON.parse((await readRunFile(path, MAX_SHOWN_BYTES)) ?? "{}");
    return isObject(manifest) ? manifest : {};
  } catch {
    return {};
  }
}
