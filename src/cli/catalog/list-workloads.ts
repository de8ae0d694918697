import { realpathSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { byCodePoint } from "../../base/python/door.ts";
import { RegistryError } from "../../config/errors.ts";
import type { CommandContext } from "../command.ts";
import { listingKeys } from "../config-keys.ts";
import { hint } from "../hint.ts";
import { type GroupItem, type ItemGroup, renderGroups } from "../render/groups.ts";
import type { ConfigFiles } from "../workloads/catalog/config-files.ts";
import type { ManifestKind } from "../workloads/catalog/manifest.ts";
import { matching } from "../workloads/catalog/matches.ts";
import { readParts } from "../workloads/catalog/workload-parts.ts";
import { discoverWorkloads, type Workload } from "../workloads/catalog/workloads.ts";
import { type Certificate, certificateText, readCertificates } from "../workloads/certify/certificate.ts";
import { commonKeys, filterKeys } from "./keys.ts";
import {
  configPlace,
  openCatalog,
  printInspection,
  printListing,
  printUnknown,
  withValue,
} from "./listing.ts";

const NO_DOMAIN = "without a domain";

/** Runs `gym list environments`, and the search over the whole catalog. */
export async function listEnvironments(context: CommandContext): Promise<number> {
  const values = await listingKeys(context, { ...commonKeys, ...filterKeys });
  if (values.component_name !== undefined)
    return inspect(context, values.component_name, values.catalog_kind);
  const files = openCatalog(context);
  const { entries, warnings } = discoverWorkloads(files);
  let shown = search(entries, values.query, files);
  for (const warning of warnings) context.err(warning);
  for (const key of Object.keys(filterKeys) as (keyof typeof filterKeys)[]) {
    const field = key === "catalog_kind" ? "kind" : key;
    const wanted = values[key];
    if (wanted === undefined) continue;
    warnWithout(context, field, shown);
    const before = shown;
    shown = shown.filter((entry) => entry[field] === wanted);
    if (shown.length === 0 && before.length > 0) reportValues(context, field, wanted, before);
  }
  const manifests = entries.filter(({ manifestFile }) => manifestFile !== undefined).length;
  const count = `(${shown.length}; manifests ${manifests}/${entries.length})`;
  const title =
    values.query === undefined
      ? `Available environments and benchmarks ${count}`
      : `Catalog entries matching '${values.query}' ${count}`;
  return printListing(context, {
    plural: "environments",
    query: values.query,
    rows: shown.map((entry) => catalogRow(entry, context)),
    table: {
      title,
      columns: ["Name", "Kind", "Domain", "Description"],
      rows: byDomain(shown, entries).flatMap(({ heading, items }) =>
        items.map(({ name, text, note = "environment" }) => [
          name,
          note,
          heading === NO_DOMAIN ? "" : heading,
          text,
        ]),
      ),
    },
    text: () => renderGroups(title, byDomain(shown, entries), context.terminal),
  });
}

/** The entries by domain, with the names that `--environment` accepts; entries without a domain are last. */
function byDomain(shown: readonly Workload[], all: readonly Workload[]): ItemGroup[] {
  const taken = new Set(all.map(({ name }) => name));
  const groups = new Map<string, GroupItem[]>();
  for (const { name, kind, domain, description = "", resourcesServer } of shown) {
    const short = resourcesServer !== undefined && !taken.has(resourcesServer) ? resourcesServer : name;
    const items = groups.get(domain ?? "") ?? [];
    groups.set(domain ?? "", items);
    items.push({ name: short, text: description, note: kind === "benchmark" ? "benchmark" : undefined });
  }
  const sorted = [...groups].sort(([a], [b]) => Number(a === "") - Number(b === "") || byCodePoint(a, b));
  return sorted.map(([domain, items]) => ({
    heading: domain === "" ? NO_DOMAIN : domain,
    items: items.sort((a, b) => byCodePoint(a.name, b.name)),
  }));
}

/** A filter without matches is often misspelt, so the message lists the existing values. */
function reportValues(
  { err }: CommandContext,
  field: keyof Workload,
  wanted: string,
  entries: readonly Workload[],
): void {
  const given = new Set(entries.map((entry) => entry[field]));
  const values = [...given].filter((value) => typeof value === "string");
  if (values.length === 0) return;
  err(`No entry has ${field} '${wanted}'.${hint(wanted, values)} There are: ${values.sort().join(", ")}.`);
}

/** Runs `gym list benchmarks`. */
export async function listBenchmarks(context: CommandContext): Promise<number> {
  const values = await listingKeys(context, commonKeys);
  if (values.component_name !== undefined) return inspect(context, values.component_name, "benchmark");
  const files = openCatalog(context);
  const { entries, warnings } = discoverWorkloads(files);
  const benchmarks = entries.filter(({ kind }) => kind === "benchmark");
  const found = search(benchmarks, values.query, files);
  const shown = found.map((entry) => ({ entry, ...readParts(entry, files) }));
  for (const warning of warnings) context.err(warning);
  for (const { entry, problem } of shown) {
    if (problem !== undefined) context.err(`Warning: ${entry.name} cannot be resolved: ${problem}`);
  }
  return printListing(context, {
    plural: "benchmarks",
    query: values.query,
    rows: shown.map(({ entry, benchmark, resourcesServers }) => ({
      ...catalogRow(entry, context),
      resources_servers: resourcesServers,
      agent_name: benchmark?.agentName ?? null,
      num_repeats: benchmark?.numRepeats ?? null,
      data_rows: benchmark?.rows ?? null,
      data_license: benchmark?.license ?? null,
      needs: benchmark?.needs ?? [],
    })),
    table: {
      title:
        values.query === undefined
          ? `Available benchmarks in NeMo Gym (${shown.length})`
          : `Benchmarks matching '${values.query}' (${shown.length})`,
      columns: ["Name", "Domain", "Description", "Agent name", "Num repeats", "Rows", "Licence", "Needs"],
      optional: ["Agent name", "Licence", "Num repeats", "Needs", "Rows", "Domain"],
      rows: shown.map(({ entry: { name, domain = "", description = "" }, benchmark }) => {
        const { agentName = "", numRepeats = "", rows = "", license = "", needs = [] } = benchmark ?? {};
        return [
          name,
          domain,
          description,
          agentName,
          String(numRepeats),
          String(rows),
          license,
          needs.join(", "),
        ];
      }),
    },
  });
}

function catalogRow(entry: Workload, context: CommandContext) {
  return {
    name: entry.name,
    kind: entry.kind,
    selector: selectorOf(entry),
    status: entry.status,
    domain: entry.domain ?? null,
    description: entry.description ?? null,
    version: entry.version ?? null,
    integration_profile: entry.integrationProfile ?? null,
    modality: entry.modality ?? null,
    licensing: entry.licensing ?? null,
    lifecycle: entry.lifecycle ?? null,
    certificate: certificateRow(entry, context),
  };
}

/** What `gym env certify` found, for environments in the folder of a resources server or under its name. */
function certificateRow(entry: Workload, context: CommandContext) {
  const certificate = certificateOf(entry, context);
  if (certificate === undefined) return null;
  const { level, passed, mutation_score, checks } = certificate;
  const named = (status: string) => checks.filter((each) => each.status === status).map(({ check }) => check);
  return { level, passed, mutation_score, failed: named("failed"), waived: named("waived") };
}

function certificateOf(
  { name, kind, resourcesServer, configFile }: Workload,
  { err }: CommandContext,
): Certificate | undefined {
  const folder = path.dirname(configFile);
  // An environment may be a resources server under the same name.
  const [directory, config] =
    resourcesServer === undefined
      ? [path.resolve(folder, "../../resources_servers", name), name]
      : [path.dirname(folder), path.basename(configFile, ".yaml")];
  if (resourcesServer === undefined && kind === "benchmark") return undefined;
  try {
    return readCertificates(directory)[config];
  } catch (error) {
    err(`Warning: ${errorMessage(error)}`);
    return undefined;
  }
}

function search(
  entries: readonly Workload[],
  query: string | undefined,
  files: ConfigFiles,
): readonly Workload[] {
  if (query === undefined) return entries;
  return matching(query, entries, (entry) => {
    const { agent, benchmark, resourcesServers, datasets, hubDatasets, capabilities, value } = readParts(
      entry,
      files,
    );
    const parts = [
      agent,
      benchmark?.agentName,
      ...resourcesServers,
      ...datasets,
      ...hubDatasets,
      ...capabilities,
    ];
    const { name, domain, description, modality, licensing } = entry;
    return [name, domain, description, modality, licensing, value, ...parts];
  });
}

function warnWithout({ err }: CommandContext, field: keyof Workload, entries: readonly Workload[]): void {
  const missing = entries.filter((entry) => entry[field] === undefined).length;
  if (missing === 0) return;
  const [noun, verb] = missing === 1 ? ["entry", "has"] : ["entries", "have"];
  err(`Warning: ${missing} catalog ${noun} ${verb} no ${field} metadata and could not be matched.`);
}

async function inspect(
  context: CommandContext,
  name: string,
  kind: ManifestKind | undefined,
): Promise<number> {
  const files = openCatalog(context);
  const { entries } = discoverWorkloads(files);
  const matches = named(entries, name).filter((candidate) => kind === undefined || candidate.kind === kind);
  const [entry] = matches;
  if (new Set(matches.map((match) => match.kind)).size > 1)
    throw new RegistryError(`'${name}' is both an environment and a benchmark; choose one with --kind.`);
  const parts = entry && readParts(entry, files);
  const certificate = entry && certificateOf(entry, context);
  if (entry === undefined || parts === undefined) return printMissing(context, entries, name, kind);
  if (parts.problem !== undefined) context.err(`Warning: ${name} cannot be resolved: ${parts.problem}`);
  return printInspection(context, {
    name: entry.name,
    type: entry.kind,
    domain: entry.domain,
    description: withValue(entry.description, parts.value),
    details: {
      config: configPlace(entry.configFile),
      status: entry.status,
      manifest: entry.manifestFile && realpathSync(entry.manifestFile),
      version: entry.version,
      profile: entry.integrationProfile,
      modality: entry.modality,
      licensing: entry.licensing,
      lifecycle: entry.lifecycle,
      certificate: certificate && certificateText(certificate),
      "resources servers": parts.resourcesServers.join(", "),
      agent: parts.agent,
      rows: parts.benchmark?.rows?.toLocaleString("en"),
      "licence of the data": parts.benchmark?.license,
      needs: parts.benchmark?.needs?.join(", "),
      datasets: parts.datasets.join(", "),
    },
    usage: `gym eval run ${selectorOf(entry)}${entry.kind === "benchmark" ? " --split benchmark" : ""} --model-type openai_model`,
  });
}

/** The flag that selects a workload for a run. */
function selectorOf({ name, kind, resourcesServer }: Workload): string {
  return resourcesServer === undefined ? `--${kind} ${name}` : `--resources-server ${resourcesServer}`;
}

/** A workload in a resources server can be named by that server alone. */
function named(entries: readonly Workload[], name: string): Workload[] {
  const called = entries.filter((entry) => entry.name === name);
  return called.length > 0 ? called : entries.filter((entry) => entry.resourcesServer === name);
}

function printMissing(
  context: CommandContext,
  entries: readonly Workload[],
  name: string,
  kind: ManifestKind | undefined,
): number {
  const [other] = named(entries, name);
  if (other === undefined) {
    const known = entries.filter((entry) => kind === undefined || entry.kind === kind);
    const names = known.map((entry) => entry.name);
    return printUnknown(context, kind ?? "environment", name, names);
  }
  const line = `'${name}' is ${withArticle(other.kind)}, not ${withArticle(kind ?? "environment")}.`;
  context.out(`${context.terminal.red(line)} Try \`gym list ${other.kind}s ${name}\`.`);
  return 1;
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
}
