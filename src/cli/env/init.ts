import { existsSync } from "node:fs";
import path from "node:path";
import { requestOnce } from "../../servers/calls/door.ts";
import type { CommandContext, FlagValues } from "../command.ts";
import type { initFlags } from "../commands/env.ts";
import { listingKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { ScaffoldError } from "../workloads/errors.ts";
import { type BridgeSource, bridgeFiles } from "../workloads/scaffold/bridge.ts";
import { checkName, type ScaffoldFiles, writeMissingFiles } from "../workloads/scaffold/files.ts";
import {
  commonJsProject,
  completeGitignore,
  copiedSource,
  missingDependency,
  projectFiles,
} from "../workloads/scaffold/project.ts";
import { type ServerTemplate, serverFiles } from "../workloads/scaffold/templates.ts";
import { existingVerifier, newVerifier, workloadFiles } from "../workloads/scaffold/workload.ts";
import { healthOf } from "./running.ts";

const SERVER_FOLDERS = {
  resources_servers: "resources-server",
  responses_api_agents: "agent",
  responses_api_models: "model",
} as const satisfies Record<string, ServerTemplate>;

type InitFlags = FlagValues<typeof initFlags>;

/** Runs `gym env init`. */
export async function initComponent(context: CommandContext, flags: InitFlags): Promise<number> {
  const { environment, benchmark, agent, model, game, judge } = flags;
  const workload = environment ?? benchmark;
  const [kind, source] = flags.from;
  if (kind === undefined && flags.name !== undefined)
    throw new UsageError("argument --name: only allowed with --from");
  if (workload === undefined) {
    rejectWorkloadFlags(flags);
    if (kind !== undefined && source !== undefined)
      return initBridge(context, { kind, source, name: flags.name });
    if (agent !== undefined) return initServer(context, `responses_api_agents/${agent}`);
    if (model !== undefined) return initServer(context, `responses_api_models/${model}`);
    if (game !== undefined) return initServer(context, `resources_servers/${game}`, "game");
    if (judge !== undefined) return initServer(context, `resources_servers/${judge}`, "judge");
    return initServer(context, await givenEntrypoint(context));
  }
  return initWorkload(context, flags, environment === undefined ? "benchmark" : "environment", workload);
}

/** `+entrypoint`, or `--resources-server`; without either, the user has not chosen what to create. */
async function givenEntrypoint(context: CommandContext): Promise<string> {
  const { entrypoint } = await listingKeys(context, { entrypoint: { type: "str", help: "" } });
  if (entrypoint !== undefined) return entrypoint;
  throw new UsageError(
    "missing required configuration: entrypoint. Choose what to create: --resources-server NAME, --game NAME, --judge NAME, " +
      "--environment NAME, --benchmark NAME, --agent NAME, --model NAME or --from KIND SOURCE (or +entrypoint=resources_servers/NAME).",
  );
}

async function initServer(
  context: CommandContext,
  entrypoint: string,
  chosen?: ServerTemplate,
): Promise<number> {
  const [type = "", name = "", ...rest] = entrypoint.split("/");
  const usual = Object.hasOwn(SERVER_FOLDERS, type)
    ? SERVER_FOLDERS[type as keyof typeof SERVER_FOLDERS]
    : undefined;
  const template = chosen ?? usual;
  if (template === undefined || rest.length > 0) {
    throw new ScaffoldError(
      `entrypoint '${entrypoint}' must be a folder such as resources_servers/my_server; ` +
        `the first part is one of ${Object.keys(SERVER_FOLDERS).join(", ")}.`,
    );
  }
  const folder = `${type}/${checkName(name)}`;
  if (existsSync(path.join(context.io.cwd, folder)))
    throw new ScaffoldError(`Folder already exists: ${folder}. Nothing was changed.`);
  await create(context, folder, serverFiles(template, name));
  if (context.json) return 0;
  context.out("");
  const server = type === "resources_servers" ? `--resources-server ${name}` : `+entrypoint=${folder}`;
  context.out(`Next: ${programOf(context)} env test ${server}`);
  return 0;
}

/** In a project that has the gym as a dependency, npx finds the program. */
function programOf({ installRoot }: CommandContext): string {
  return installRoot.split(path.sep).includes("node_modules") ? "npx gym" : "gym";
}

async function initWorkload(
  context: CommandContext,
  flags: InitFlags,
  kind: "environment" | "benchmark",
  name: string,
): Promise<number> {
  checkName(name);
  const reused = flags["reuse-verifier"];
  const verifier = reused === undefined ? newVerifier(name) : existingVerifier(reused, context.roots);
  const files = workloadFiles({
    kind,
    name,
    profile: flags.profile ?? "custom-gym-verifier",
    verifier,
    reused: reused !== undefined,
    reward: readReward(flags),
  });
  await create(context, `${kind}s/${name}`, files);
  if (context.json) return 0;
  context.out("");
  context.out(`Next: ${programOf(context)} env validate ${name}`);
  return 0;
}

/** An environment that wraps one of another library. */
async function initBridge(context: CommandContext, source: BridgeSource): Promise<number> {
  const isMcp = source.kind === "openenv" && (await takesToolCalls(context, source.source));
  const { name, files } = bridgeFiles({ ...source, isMcp }, context.io.cwd, (text) =>
    context.err(`Warning: ${text}`),
  );
  await create(context, `environments/${name}`, files);
  if (context.json) return 0;
  context.out("");
  context.out(`Next: ${programOf(context)} eval run --environment ${name} --model-type openai_model`);
  return 0;
}

/** Whether the only action of a running OpenEnv server is a tool call. Warns if the server does not answer. */
async function takesToolCalls({ err, signal }: CommandContext, address: string): Promise<boolean> {
  const url = address.replace(/^ws/, "http").replace(/\/$/, "");
  const health = await healthOf(url, signal);
  if (health !== "success") {
    err(
      `Warning: the server at ${address} did not answer (${health}). Start it before the first rollout, and set is_mcp in the config if it offers tools.`,
    );
    return false;
  }
  const { text } = await requestOnce(`${url}/schema`, { signal });
  return /"const":\s*"call_tool"/.test(text);
}

async function create(context: CommandContext, folder: string, files: ScaffoldFiles): Promise<void> {
  const { io, installRoot, out, err, terminal } = context;
  const around = projectFiles(io.cwd, installRoot);
  const hidden = hiddenComponents(context, files);
  const { created, kept } = await writeMissingFiles(io.cwd, { ...around, ...files });
  const ignored = completeGitignore(io.cwd, installRoot);
  for (const { name, directory } of hidden) {
    err(`Warning: ${name} takes precedence over the one in ${directory} in this project.`);
  }
  if (context.json) out(JSON.stringify({ component: folder, created, kept }));
  else if (created.length === 0) out(`${terminal.green("✓")} ${folder} is up to date.`);
  else {
    out(`${terminal.green("✓")} Created ${folder}`);
    for (const file of created) out(`  ${file}`);
  }
  if (ignored.length > 0) err(`Note: .gitignore now ignores ${ignored.join(", ")}.`);
  const commonJs = commonJsProject(io.cwd, installRoot);
  if (commonJs !== undefined) err(`Warning: ${commonJs}`);
  const hint = missingDependency(io.cwd, installRoot);
  if (hint !== undefined) err(`Warning: ${hint}`);
  else if ("package.json" in around) {
    if (!context.json) out("Run `npm install` before the tests.");
    const copied = copiedSource(io.cwd, installRoot);
    if (copied !== undefined) err(`Note: ${copied}`);
  }
}

/** Components of other roots with the names of the new ones: the working directory takes precedence. */
function hiddenComponents({ io, roots }: CommandContext, files: ScaffoldFiles) {
  const names = new Set(Object.keys(files).map((file) => file.split("/").slice(0, 2).join("/")));
  const others = roots.filter((root) => root !== io.cwd);
  return [...names].flatMap((name) => {
    const directory = others.map((root) => path.join(root, name)).find((place) => existsSync(place));
    const isNew = !existsSync(path.join(io.cwd, name));
    return directory === undefined || !isNew ? [] : [{ name, directory }];
  });
}

function rejectWorkloadFlags(flags: InitFlags): void {
  const given = [
    flags.profile !== undefined && "--profile",
    flags["reuse-verifier"] !== undefined && "--reuse-verifier",
    flags["reward-range"].length > 0 && "--reward-range",
    flags["higher-is-better"] && "--higher-is-better",
    flags["lower-is-better"] && "--lower-is-better",
  ].filter((flag) => flag !== false);
  if (given.length > 0) {
    throw new UsageError(`argument ${given[0]}: only allowed with --environment or --benchmark`);
  }
}

/** A new verifier has rewards from 0 to 1; the range of a reused one must be given. */
function readReward(flags: InitFlags): { range: [number, number]; higherIsBetter: boolean } {
  const directed = flags["higher-is-better"] || flags["lower-is-better"];
  const range = flags["reward-range"];
  if (flags["reuse-verifier"] === undefined) {
    if (range.length > 0 || directed) {
      throw new UsageError("--reward-range and the direction are only allowed with --reuse-verifier");
    }
    return { range: [0, 1], higherIsBetter: true };
  }
  if (range.length === 0 || !directed) {
    throw new UsageError(
      "--reuse-verifier needs --reward-range LOW HIGH and --higher-is-better or --lower-is-better",
    );
  }
  const [low = Number.NaN, high = Number.NaN] = range.map(Number);
  if (!(Number.isFinite(low) && Number.isFinite(high) && low < high)) {
    throw new UsageError(
      `argument --reward-range: expected two numbers, the lower one first, got ${range.join(" ")}`,
    );
  }
  return { range: [low, high], higherIsBetter: flags["higher-is-better"] };
}
