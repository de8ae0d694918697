import path from "node:path";
import { getCloseMatches } from "../../base/python/difflib.ts";
import type { Override } from "../../config/resolve.ts";
import { type PrepareEvent, prepareBenchmarks } from "../../data/benchmarks/prepare-benchmarks.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { agentsWithDatasets, hubAccess } from "../dataset/access.ts";
import { prepareKeys } from "../dataset/keys.ts";
import { UsageError } from "../errors.ts";

const NEARNESS = 0.85;

/** Refuses `+key=…` with a misspelt key of the command, because it would have no effect. */
function refuseMisspeltKeys(overrides: readonly Override[]): void {
  const known = Object.keys(prepareKeys);
  for (const word of overrides) {
    if (typeof word !== "string") continue;
    const key = /^\+{1,2}([^.=@+]+)/.exec(word)?.[1];
    if (key === undefined || known.includes(key)) continue;
    const [nearest] = getCloseMatches(key, known, 1, NEARNESS);
    if (nearest !== undefined)
      throw new UsageError(`argument ${word}: nothing reads the key '${key}'. Did you mean \`${nearest}\`?`);
  }
}

/** Runs `gym eval prepare`. */
export async function prepare(context: CommandContext): Promise<number> {
  const { io, env, roots, signal } = context;
  refuseMisspeltKeys(context.overrides);
  const config = await context.resolve();
  const values = readKeys(prepareKeys, config);
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
    hub: hubAccess(values, context),
    signal,
    onEvent: (event) => show(event, context),
  });
  if (context.json) context.out(JSON.stringify({ prepared }));
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
