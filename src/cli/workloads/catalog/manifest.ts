import path from "node:path";
import { FieldCheck, readConfigFile, readConfigText, type SchemaProblem } from "../../../config/door.ts";
import { ConfigError, place, RegistryError, WorkloadError } from "../../../config/errors.ts";
import {
  type ConfigNode,
  type DictNode,
  datasetTypes,
  domains,
  numberOfNode,
  plainFromNode,
  positionOf,
  rawNodeAt,
  textOfNode,
} from "../../../config/light-door.ts";

/** The dataset fields that a manifest repeats from the config. */
export const DATASET_FIELDS = [
  "name",
  "type",
  "jsonl_fpath",
  "prepare_script",
  "prompt_config",
  "num_repeats",
] as const;

/** The problems of the datasets in a manifest. */
function checkManifestDatasets(node: ConfigNode | undefined, kind: string | undefined): SchemaProblem[] {
  if (node?.kind !== "list" || node.items.length === 0)
    return [{ path: ["datasets"], message: "Must be a list of at least one dataset" }];
  const names: string[] = [];
  const types: (string | undefined)[] = [];
  const problems = node.items.flatMap((item, index) => {
    const path = ["datasets", index];
    if (item.kind !== "dict") return [{ path, message: "Must be a mapping" }];
    const check = new FieldCheck(item, path);
    for (const key of item.entries.keys())
      if (!DATASET_FIELDS.some((field) => field === key)) check.report(String(key), "Unknown field");
    const name = check.text("name", "required");
    if (name !== undefined) {
      if (names.includes(name)) check.report("name", `Another dataset is called '${name}'`);
      names.push(name);
    }
    check.text("jsonl_fpath", "required");
    check.text("prompt_config", "optional");
    check.integer("num_repeats", 1);
    if (!check.has("type")) check.report("type", "Field required");
    const type = check.oneOf("type", datasetTypes);
    types.push(type);
    check.text("prepare_script", type === "benchmark" ? "required" : "optional");
    return check.problems;
  });
  if (kind === "benchmark" && !types.includes("benchmark"))
    problems.push({ path: ["datasets"], message: "A benchmark needs a dataset of type benchmark" });
  return problems;
}

export const manifestKinds = ["environment", "benchmark"] as const;
export type ManifestKind = (typeof manifestKinds)[number];

export const integrationProfiles = [
  "custom-gym-verifier",
  "custom-gym-agent-loop",
  "external-agent-loop",
  "external-rollout-driver",
] as const;
export type IntegrationProfile = (typeof integrationProfiles)[number];

export const lifecycles = ["active", "deprecated"] as const;

/** A dataset in a manifest, which repeats the config. */
export interface ManifestDataset {
  readonly name: string;
  readonly type: (typeof datasetTypes)[number];
  readonly jsonl_fpath: string;
  readonly prepare_script?: string | null;
  readonly prompt_config?: string | null;
  readonly num_repeats?: number | null;
}

export const determinisms = ["seeded", "stochastic", "unknown"] as const;

/** The content of `manifest.yaml`, which describes the workload in the `config.yaml` beside it. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly kind: ManifestKind;
  readonly integration_profile: IntegrationProfile;
  readonly domain: string;
  readonly description: string;
  readonly modality: string;
  readonly licensing: string;
  readonly lifecycle: string;
  readonly authors: readonly string[];
  readonly reward: { readonly range: readonly [number, number]; readonly higher_is_better: boolean };
  readonly determinism: (typeof determinisms)[number];
  /** The fields below repeat the config. The first two are implementations, `model_server` is an instance. */
  readonly resources_server: string | null;
  readonly agent_server: string | null;
  readonly model_server?: string | null;
  readonly datasets: readonly ManifestDataset[];
  readonly rollout_driver?: string | null;
  readonly grading_mode?: string | null;
  readonly canonical_split?: string | null;
  readonly standard_prompt_config?: string | null;
}

const TEXT_FIELDS = [
  "name",
  "version",
  "description",
  "modality",
  "resources_server",
  "agent_server",
] as const;
const OPTIONAL_TEXT_FIELDS = [
  "model_server",
  "rollout_driver",
  "grading_mode",
  "sandbox",
  "canonical_split",
  "standard_prompt_config",
] as const;
const OTHER_FIELDS = [
  "kind",
  "integration_profile",
  "domain",
  "licensing",
  "authors",
  "reward",
  "determinism",
  "datasets",
  "session_model",
  "state",
  "adopted_from",
  "lifecycle",
] as const;
const FIELDS: ReadonlySet<string> = new Set([...TEXT_FIELDS, ...OPTIONAL_TEXT_FIELDS, ...OTHER_FIELDS]);

const DEFAULTS = { licensing: "unknown", lifecycle: "active", determinism: "unknown" } as const;

/** Licences that are not SPDX expressions. */
const PRIVATE_LICENSES = ["internal", "proprietary", "unknown"];
const SPDX = /^\(*[\w.+-]+\)*(?: +(?:AND|OR|WITH) +\(*[\w.+-]+\)*)*$/;
const SOURCE = /^(?:(?:https?|ssh|git|file):\/\/\S+|[^@\s]+@[^:\s]+:\S+)$/;
const DRIVER = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$/;

/** Reads a manifest, or returns all its problems. */
export function readWorkloadManifest(root: DictNode): { manifest: Manifest } | { problems: SchemaProblem[] } {
  const check = new FieldCheck(root, []);
  for (const key of root.entries.keys())
    if (!FIELDS.has(String(key))) check.report(String(key), "Unknown field");
  for (const field of TEXT_FIELDS) filledText(check, field, true);
  for (const field of OPTIONAL_TEXT_FIELDS) filledText(check, field, false);
  const kind = choice(check, "kind", manifestKinds);
  const profile = choice(check, "integration_profile", integrationProfiles);
  choice(check, "domain", domains);
  check.oneOf("determinism", determinisms);
  check.oneOf("session_model", ["episode", "step"]);
  check.oneOf("state", ["none", "per_session"]);
  check.oneOf("lifecycle", lifecycles);
  checkLicense(check);
  checkAuthors(check);
  checkReward(check);
  checkOrigin(check);
  checkDemands(check, kind, profile);
  const problems = [...check.problems, ...checkManifestDatasets(check.get("datasets"), kind)];
  if (problems.length > 0) return { problems };
  const given = Object.entries(plainFromNode(root) as object).filter(([, value]) => value !== null);
  return { manifest: { ...DEFAULTS, ...(Object.fromEntries(given) as unknown as Manifest) } };
}

function filledText(check: FieldCheck, field: string, required: boolean): void {
  const text = check.text(field, required ? "required" : "optional");
  if (text !== undefined && text.trim() === "") check.report(field, "Must not be empty");
}

function choice(check: FieldCheck, field: string, choices: readonly string[]): string | undefined {
  if (!check.has(field)) check.report(field, "Field required");
  return check.oneOf(field, choices);
}

function checkLicense(check: FieldCheck): void {
  const text = check.text("licensing", "optional");
  if (text === undefined || PRIVATE_LICENSES.includes(text) || SPDX.test(text)) return;
  check.report("licensing", `Must be an SPDX expression or one of: ${PRIVATE_LICENSES.join(", ")}`);
}

function checkAuthors(check: FieldCheck): void {
  const node = check.get("authors");
  const names = node?.kind === "list" ? node.items.map((item) => textOfNode(item)?.trim()) : [];
  if (names.length === 0 || names.some((name) => name === undefined || name === ""))
    check.report("authors", "Must be a list of at least one name");
  else if (new Set(names).size < names.length) check.report("authors", "Must not repeat a name");
}

function checkReward(check: FieldCheck): void {
  const node = check.get("reward");
  if (node?.kind !== "dict") {
    check.report("reward", "Must be a mapping with range and higher_is_better");
    return;
  }
  for (const key of node.entries.keys())
    if (key !== "range" && key !== "higher_is_better") check.report(`reward.${key}`, "Unknown field");
  const range = node.entries.get("range");
  const [low, high] = range?.kind === "list" ? range.items.map(numberOfNode) : [];
  const ordered =
    low !== undefined && high !== undefined && Number.isFinite(low) && Number.isFinite(high) && low < high;
  if (!ordered || (range?.kind === "list" && range.items.length !== 2))
    check.report("reward", "range must be two numbers, the lower one first");
  const higher = node.entries.get("higher_is_better");
  if (higher?.kind !== "scalar" || typeof higher.value !== "boolean")
    check.report("reward", "higher_is_better must be true or false");
}

/** The origin of an adopted environment: its address, the revision, and the day of the last comparison. */
function checkOrigin(check: FieldCheck): void {
  if (!check.has("adopted_from")) return;
  const node = check.get("adopted_from");
  const field = (name: string) => (node?.kind === "dict" ? textOfNode(node.entries.get(name)) : undefined);
  const fits =
    node?.kind === "dict" &&
    node.entries.size === 3 &&
    SOURCE.test(field("source") ?? "") &&
    /^\S+$/.test(field("ref") ?? "") &&
    /^\d{4}-\d{2}-\d{2}$/.test(field("reconciled") ?? "");
  if (!fits)
    check.report(
      "adopted_from",
      "Must be source (a URL), ref (a revision) and reconciled (a day, YYYY-MM-DD)",
    );
}

/** Checks the fields that only some kinds and profiles need or allow. */
function checkDemands(check: FieldCheck, kind: string | undefined, profile: string | undefined): void {
  const needed: string[] = [];
  if (profile === "custom-gym-verifier" || profile === "custom-gym-agent-loop") needed.push("model_server");
  if (profile === "external-rollout-driver") needed.push("rollout_driver");
  else if (profile !== undefined && check.has("rollout_driver"))
    check.report("rollout_driver", "Only for the profile external-rollout-driver");
  if (kind === "benchmark") needed.push("canonical_split", "standard_prompt_config");
  for (const field of needed) if (!check.has(field)) check.report(field, `Field required here`);
  const driver = textOfNode(check.get("rollout_driver"));
  if (driver !== undefined && !DRIVER.test(driver))
    check.report("rollout_driver", "Must look like module:function");
}

/** Reads a manifest file. The error lists all problems with their positions. */
export function loadManifest(file: string): Manifest {
  let root: DictNode;
  try {
    root = readConfigFile(file);
  } catch (error) {
    if (error instanceof ConfigError)
      throw new RegistryError(error.message, { position: error.position, cause: error });
    throw error;
  }
  return checkedManifest(root, file);
}

/** Reads the text of a manifest before it is written to the file. */
export function parseManifest(text: string, file: string): Manifest {
  return checkedManifest(readConfigText(text, { kind: "file", name: file }), file);
}

function checkedManifest(root: DictNode, file: string): Manifest {
  const result = readWorkloadManifest(root);
  if ("manifest" in result) return result.manifest;
  const problems = result.problems.map(({ path: at, message }) => {
    const node = rawNodeAt(root, at);
    return `  - ${at.join(".")}: ${message}${place(node === undefined ? undefined : positionOf(node))}`;
  });
  throw new RegistryError(`The manifest ${file} is not valid:\n${problems.join("\n")}`);
}

/** The nearest folder `environments` or `benchmarks` above a file. */
export function catalogTree(file: string): { directory: string; kind: ManifestKind } | undefined {
  for (let folder = path.dirname(file); path.dirname(folder) !== folder; folder = path.dirname(folder)) {
    const kind = manifestKinds.find((name) => path.basename(folder) === `${name}s`);
    if (kind !== undefined) return { directory: folder, kind };
  }
  return undefined;
}

/** Fails unless the name and kind of a manifest match its folder. */
export function checkLocation(file: string, { name, kind }: Manifest): void {
  const tree = catalogTree(file);
  const folder = path.dirname(file);
  const expected =
    tree === undefined
      ? path.basename(folder)
      : path.relative(tree.directory, folder).split(path.sep).join("/");
  if (name !== expected) {
    throw new WorkloadError(`${file}: its name is '${name}', but its folder is '${expected}'.`);
  }
  if (tree !== undefined && kind !== tree.kind) {
    throw new WorkloadError(`${file}: its kind is ${kind}, but it is in ${path.basename(tree.directory)}/.`);
  }
}
