import { z } from "zod";
import { errorMessage } from "../base/errors.ts";
import { type datasetTypes, licenses } from "../config/light-door.ts";
import { laxInt } from "../wire/schemas/lax.ts";
import { DatasetError } from "./errors.ts";

export type DatasetType = (typeof datasetTypes)[number];

const GitlabIdentifier = z.object({
  dataset_name: z.string(),
  version: z.string(),
  artifact_fpath: z.string(),
});
const HuggingfaceIdentifier = z.object({
  repo_id: z.string(),
  artifact_fpath: z
    .string()
    .nullish()
    .transform((path) => path ?? null),
  /** Read without `artifact_fpath`. Default: the split named like the type of the dataset. */
  split: z.string().optional(),
  /** Members of every downloaded row that lacks them, for datasets that were not made as rows. Needs a split. */
  fields: z.record(z.string(), z.unknown()).optional(),
});
const Source = z.discriminatedUnion("type", [
  z.object({ type: z.literal("gitlab"), ...GitlabIdentifier.shape }),
  z.object({ type: z.literal("huggingface"), ...HuggingfaceIdentifier.shape }),
]);

export type GitlabIdentifier = z.infer<typeof GitlabIdentifier>;
export type HuggingfaceIdentifier = z.infer<typeof HuggingfaceIdentifier>;

const atLeast = (minimum: number) =>
  laxInt().refine((value) => value >= minimum, { error: `must be at least ${minimum}` });
const repeats = atLeast(1).default(1);
const position = atLeast(0).nullish();

const binding = { agent: z.string().nullish(), taskset: z.string().min(1).nullish() };

const Ordinary = z
  .object({
    name: z.string(),
    type: z.enum(["train", "validation", "example"]),
    jsonl_fpath: z.string(),
    num_repeats: repeats,
    ...binding,
    source: Source.nullish(),
    gitlab_identifier: GitlabIdentifier.nullish(),
    huggingface_identifier: HuggingfaceIdentifier.nullish(),
    license: z.enum(licenses).nullish(),
    start_idx: position,
    end_idx: position,
  })
  .superRefine((entry, context) => {
    if (entry.type !== "example" && !entry.license) {
      const message = `a ${entry.type} dataset needs one: ${licenses.map((name) => `'${name}'`).join(", ")}`;
      context.addIssue({ code: "custom", path: ["license"], message });
    }
    const older = (["gitlab_identifier", "huggingface_identifier"] as const).filter((name) => entry[name]);
    if (entry.source && older.length > 0) {
      context.addIssue({
        code: "custom",
        path: ["source"],
        message: `cannot be combined with ${older.join(" and ")}`,
      });
    }
  });

const normalPath = z.string().transform(asNormalPath);

/** Normalizes a path as upstream does for benchmarks: removes `.` steps and doubled or trailing slashes, keeps `..`. */
function asNormalPath(given: string): string {
  const steps = given.split("/").filter((step) => step !== "" && step !== ".");
  const root = /^\/\/(?!\/)/.test(given) ? "//" : given.startsWith("/") ? "/" : "";
  return root + steps.join("/") || ".";
}

const Benchmark = z.object({
  name: z.string(),
  type: z.literal("benchmark"),
  jsonl_fpath: normalPath,
  prepare_script: normalPath,
  prompt_config: normalPath.nullish(),
  num_repeats: repeats,
  ...binding,
  start_idx: position,
  end_idx: position,
});

interface CommonEntry {
  name: string;
  jsonlPath: string;
  repeats: number;
  /** The agent of the rows, if the entry names it. */
  agent?: string;
  /** The taskset that the rows become tasks of. */
  taskset?: string;
  /** The lines of the file that belong to the dataset; `end` is exclusive. */
  lines: { start: number; end: number };
  /** The fields of the entry in metrics files, in order. */
  shown: Record<string, unknown>;
}

export interface OrdinaryEntry extends CommonEntry {
  type: "train" | "validation" | "example";
  gitlab: GitlabIdentifier | null;
  huggingface: HuggingfaceIdentifier | null;
  promptConfig: null;
}

export interface BenchmarkEntry extends CommonEntry {
  type: "benchmark";
  prepareScript: string;
  promptConfig: string | null;
}

export type DatasetEntry = OrdinaryEntry | BenchmarkEntry;

/** Reads one element of `datasets` of an agent. `where` is the start of error messages. */
export function parseDatasetEntry(raw: unknown, where: string): DatasetEntry {
  const type = (raw as { type?: unknown } | null)?.type;
  if (type === "benchmark") return benchmarkEntry(check(Benchmark, raw, where));
  return ordinaryEntry(check(Ordinary, raw, where));
}

function check<T>(schema: z.ZodType<T>, raw: unknown, where: string): T {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const name = (raw as { name?: unknown } | null)?.name;
  const problems = result.error.issues.map(({ path, message }) => `${path.join(".") || "entry"}: ${message}`);
  throw new DatasetError(
    "DATASET_ENTRY_INVALID",
    `${where}: the dataset ${typeof name === "string" ? `'${name}' ` : ""}is not valid: ${problems.join("; ")}.`,
  );
}

/** `source` and the older identifiers are two notations for the same value. Each fills the other. */
function ordinaryEntry(raw: z.infer<typeof Ordinary>): OrdinaryEntry {
  const { name, type, jsonl_fpath, num_repeats, license = null } = raw;
  let { source = null, gitlab_identifier: gitlab = null, huggingface_identifier: huggingface = null } = raw;
  if (source?.type === "gitlab") gitlab = withoutType(source);
  else if (source?.type === "huggingface") huggingface = withoutType(source);
  else if (gitlab && !huggingface) source = { type: "gitlab", ...gitlab };
  else if (huggingface && !gitlab) source = { type: "huggingface", ...huggingface };
  const shown = {
    name,
    type,
    jsonl_fpath,
    num_repeats,
    source,
    gitlab_identifier: gitlab,
    huggingface_identifier: huggingface,
    license,
  };
  return { ...common(raw, shown), type, gitlab, huggingface, promptConfig: null };
}

function withoutType<T extends { type: string }>({ type: _, ...rest }: T): Omit<T, "type"> {
  return rest;
}

function benchmarkEntry(raw: z.infer<typeof Benchmark>): BenchmarkEntry {
  const { name, type, jsonl_fpath, prepare_script, prompt_config = null, num_repeats } = raw;
  const shown = { name, type, jsonl_fpath, prepare_script, prompt_config, num_repeats };
  return { ...common(raw, shown), type, prepareScript: prepare_script, promptConfig: prompt_config };
}

function common(
  raw: z.infer<typeof Ordinary> | z.infer<typeof Benchmark>,
  shown: Record<string, unknown>,
): CommonEntry {
  return {
    name: raw.name,
    jsonlPath: raw.jsonl_fpath,
    repeats: raw.num_repeats,
    ...(raw.agent && { agent: raw.agent }),
    ...(raw.taskset && { taskset: raw.taskset }),
    lines: { start: raw.start_idx ?? 0, end: raw.end_idx ?? Number.POSITIVE_INFINITY },
    shown,
  };
}

/** An agent instance and its datasets. Of tasksets, the instance that declares them. */
export interface DatasetAgent {
  name: string;
  datasets: DatasetEntry[];
}

/** A server instance that may declare datasets. */
interface DatasetOwner {
  name: string;
  datasets?: unknown;
  /** The agents of its rows: itself if it is an agent, those that use it if it is a resources server. */
  agents: readonly string[];
}

export interface AgentDatasets {
  agents: DatasetAgent[];
  /** Agents with an invalid dataset, which are left out. */
  rejected: { agent: string; problems: string[] }[];
}

/** Reads the datasets of agents and resources servers. */
export function agentsOf(
  owners: readonly (Omit<DatasetOwner, "agents"> & Partial<DatasetOwner>)[],
): AgentDatasets {
  const result: AgentDatasets = { agents: [], rejected: [] };
  for (const { name, datasets, agents = [name] } of owners) {
    const byAgent = new Map<string, DatasetEntry[]>(agents[0] === name ? [[name, []]] : []);
    const problems: string[] = [];
    for (const raw of Array.isArray(datasets) ? datasets : []) {
      try {
        const entry = parseDatasetEntry(raw, `${agents[0] === name ? "agent" : "server"} '${name}'`);
        const agent = agentOfEntry(entry, { name, agents });
        byAgent.set(agent, [...(byAgent.get(agent) ?? []), entry]);
      } catch (error) {
        problems.push(errorMessage(error));
      }
    }
    if (problems.length > 0) result.rejected.push({ agent: name, problems });
    else for (const [agent, entries] of byAgent) result.agents.push({ name: agent, datasets: entries });
  }
  return result;
}

function agentOfEntry(entry: DatasetEntry, { name, agents }: DatasetOwner): string {
  const refused = (problem: string) =>
    new DatasetError("DATASET_ENTRY_INVALID", `'${name}': the dataset '${entry.name}' ${problem}.`);
  const known = agents.join(", ") || "none";
  if (entry.taskset !== undefined) {
    if (entry.agent !== undefined) throw refused("has both 'taskset' and 'agent'; tasks name no agent");
    return name;
  }
  if (entry.agent !== undefined) {
    if (agents.includes(entry.agent)) return entry.agent;
    throw refused(`names the agent '${entry.agent}', which is none of its agents (${known})`);
  }
  const [only] = agents;
  if (only !== undefined && agents.length === 1) return only;
  throw refused(`needs 'agent', because '${name}' has ${agents.length} agents: ${known}`);
}
