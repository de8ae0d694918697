import path from "node:path";
import { dumps } from "../../base/python/json/door.ts";
import { suggestMisspelt } from "../../base/suggest.ts";
import type { Override, ResolvedConfig } from "../../config/door.ts";
import { findPath } from "../../config/paths.ts";
import {
  benchmarkEntries,
  existingScript,
  explainRow,
  type PrepareEvent,
  prepareBenchmarks,
} from "../../data/door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { agentsWithDatasets, hubAccessOf } from "../dataset/access.ts";
import { prepareKeys } from "../dataset/keys.ts";
import { UsageError } from "../errors.ts";

/** Rejects `+key=…` with a misspelt key of the command, because it would have no effect. */
function rejectMisspeltKeys(overrides: readonly Override[]): void {
  const known = Object.keys(prepareKeys);
  for (const word of overrides) {
    if (typeof word !== "string") continue;
    const key = /^\+{1,2}([^.=@+]+)/.exec(word)?.[1];
    if (key === undefined || known.includes(key)) continue;
    const nearest = suggestMisspelt(key, known);
    if (nearest !== undefined)
      throw new UsageError(`argument ${word}: nothing reads the key '${key}'. Did you mean \`${nearest}\`?`);
  }
}

/** Runs `gym eval prepare`. */
export async function prepare(context: CommandContext): Promise<number> {
  const { io, env, roots, signal } = context;
  rejectMisspeltKeys(context.overrides);
  const config = await context.resolve();
  const values = readKeys(prepareKeys, config);
  const { explain, limit } = context.flags as { explain?: number; limit?: number };
  if (explain !== undefined) return explainOne(context, config, explain);
  const prepared = await prepareBenchmarks({
    agents: agentsWithDatasets(config, context),
    instances: config.servers.map(({ name }) => name),
    args: values.prepare_script_args ?? {},
    useCached: values.use_cached_prepared_benchmarks,
    concurrency: values.num_prepare_benchmark_processes,
    cwd: io.cwd,
    roots,
    env,
    python: values.python_executable ?? "python3",
    hub: hubAccessOf(values, context),
    limit,
    signal,
    onEvent: (event) => show(event, context),
  });
  if (context.json) context.out(JSON.stringify({ prepared }));
  return 0;
}

/** Shows how one source row became one row. */
async function explainOne(context: CommandContext, config: ResolvedConfig, number: number): Promise<number> {
  const { io, roots, env, signal, out, err, json, terminal } = context;
  const values = readKeys(prepareKeys, config);
  const agents = agentsWithDatasets(config, context);
  const [entry, ...others] = benchmarkEntries({ agents, instances: config.servers.map(({ name }) => name) });
  if (entry === undefined || others.length > 0)
    throw new UsageError("argument --explain: it explains a row of one benchmark; name one with --benchmark");
  const file = existingScript(findPath(entry.prepareScript, roots));
  if (file === undefined || !file.endsWith(".yaml"))
    throw new UsageError(
      `argument --explain: it needs a prepare.yaml, but ${entry.name} has ${entry.prepareScript}`,
    );
  const explained = await explainRow(file, values.prepare_script_args ?? {}, number, {
    benchmark: entry.name,
    outputPath: path.resolve(io.cwd, entry.jsonlPath),
    cwd: io.cwd,
    roots,
    env,
    hub: hubAccessOf(values, context),
    signal,
    log: err,
  });
  if (explained === undefined)
    throw new UsageError(`argument --explain: ${entry.name} has fewer than ${number} rows`);
  const { source, lets, row, index } = explained;
  if (json) {
    out(
      dumps({ benchmark: entry.name, prepared_row: number, source_row: index + 1, source, let: lets, row }),
    );
    return 0;
  }
  const section = (title: string, content: object) => {
    out(terminal.bold(title));
    for (const [name, value] of Object.entries(content))
      out(`  ${name}: ${dumps(value, { ensureAscii: false })}`);
  };
  out(`${entry.name}, row ${number}, made by ${path.relative(io.cwd, file)}`);
  section(`Source row ${index + 1}`, source);
  if (Object.keys(lets).length > 0) section("let", lets);
  section("Row", row);
  return 0;
}

function show(event: PrepareEvent, { io, out: print, err, terminal, verbose, json }: CommandContext): void {
  const out = json ? () => {} : print;
  const place = "file" in event ? path.relative(io.cwd, event.file) : "";
  switch (event.type) {
    case "start":
      if (verbose) err(`Preparing ${event.benchmark} with ${place}`);
      break;
    case "log":
      err(event.line);
      break;
    case "cached":
      out(`${terminal.green("✓")} ${event.benchmark}: ${place} (already exists)`);
      break;
    case "done":
      if (event.warning !== undefined) err(`Warning: ${event.benchmark}: ${event.warning}`);
      out(`${terminal.green("✓")} ${event.benchmark}: ${place}`);
      break;
  }
}
