import { existsSync } from "node:fs";
import path from "node:path";
import { serverTypes } from "../../../config/light-door.ts";
import type { CommandContext } from "../../command.ts";
import { givenKeys, type KeyValues, listingKeys } from "../../config-keys.ts";
import { UsageError } from "../../errors.ts";
import { renderTable } from "../../render/table.ts";
import { subfolders } from "../../workloads/catalog/folders.ts";
import { testKeys } from "../keys.ts";
import { findServerFolder, type ServerFolder } from "../server-folder.ts";
import { checkDataFiles } from "./data-files.ts";
import { NO_TESTS, runServerTests } from "./run-tests.ts";

/** Runs `gym env test`. */
export async function testServers(context: CommandContext): Promise<number> {
  if (choosesWorkload(context)) return (await import("../workload.ts")).testWorkload(context);
  const keys = await listingKeys(context, testKeys);
  if (keys.entrypoint !== undefined) return testOne(context, keys.entrypoint, keys.should_validate_data);
  if (keys.shard_index >= keys.num_shards) {
    throw new UsageError(`shard_index ${keys.shard_index} must be below num_shards ${keys.num_shards}`);
  }
  return testAll(context, keys);
}

/** Whether a workload is named; options of a workload are rejected without one. */
function choosesWorkload(context: CommandContext): boolean {
  const given = givenKeys(context);
  const named = given.includes("onboarding_name");
  if (named && given.includes("entrypoint"))
    throw new UsageError("choose a workload by its NAME or a server by --resources-server, not both");
  if (!named && (context.json || given.includes("catalog_kind") || given.includes("update_expected")))
    throw new UsageError("--kind, --update-expected and --json need the NAME of a workload");
  if (context.flags.all && (named || given.includes("entrypoint")))
    throw new UsageError("--all tests every server; leave it out to test one");
  return named;
}

/** Runs the tests of one server, and checks the data it ships when asked. */
async function testOne(context: CommandContext, entrypoint: string, validatesData: boolean): Promise<number> {
  const server = findServerFolder(context, entrypoint);
  const code = await runServerTests(context, server);
  if (code !== 0) return code;
  if (!validatesData || server.type !== "resources_servers") return 0;
  const problems = checkDataFiles(server.directory, server.entrypoint);
  for (const problem of problems) context.out(problem);
  if (problems.length === 0) context.out(`The example data of ${server.entrypoint} is complete.`);
  return problems.length === 0 ? 0 : 1;
}

type TestAllKeys = KeyValues<typeof testKeys>;

interface Outcome {
  readonly server: ServerFolder;
  readonly code: number;
  readonly seconds: number;
  readonly dataProblems: readonly string[];
}

/** The lists of the report, by the exit codes of their servers. */
const LISTS: readonly (readonly [title: string, matches: (code: number) => boolean])[] = [
  ["Passed", (code) => code === 0],
  ["Failed", (code) => code === 1 || code === 2],
  ["Without tests", (code) => code === NO_TESTS],
  ["Unrecognised exit code", (code) => ![0, 1, 2, NO_TESTS].includes(code)],
];

/** Runs the tests of every server that has a README, and checks the data of resources servers. */
async function testAll(context: CommandContext, keys: TestAllKeys): Promise<number> {
  const all = allServers(context);
  const own = all.filter(({ directory }) => !isInside(directory, context.installRoot));
  // The package's servers were tested before release; in a project with servers, only those are tested.
  const leavesOut = !context.flags["all"] && own.length > 0 && !isInside(context.io.cwd, context.installRoot);
  const found = leavesOut ? own : all;
  const documented = found.filter(({ directory }) => existsSync(path.join(directory, "README.md")));
  const chosen = documented.filter((_, index) => index % keys.num_shards === keys.shard_index);
  const { out, signal } = context;
  const shard = keys.num_shards > 1 ? ` (shard ${keys.shard_index} of ${keys.num_shards})` : "";
  out(`Testing ${chosen.length} of ${found.length} servers${shard}.`);
  if (leavesOut && own.length < all.length) {
    out(`The ${all.length - own.length} servers of the package are left out; --all tests them too.`);
  }
  const outcomes: Outcome[] = [];
  for (const server of chosen) {
    signal.throwIfAborted();
    out(`\n${server.entrypoint}`);
    const started = Date.now();
    const code = await runServerTests(context, server);
    const seconds = (Date.now() - started) / 1000;
    const dataProblems =
      server.type === "resources_servers" ? checkDataFiles(server.directory, server.entrypoint) : [];
    outcomes.push({ server, code, seconds, dataProblems });
  }
  return report(context, outcomes, found, documented, keys);
}

function report(
  { out, terminal }: CommandContext,
  outcomes: readonly Outcome[],
  found: readonly ServerFolder[],
  documented: readonly ServerFolder[],
  keys: TestAllKeys,
): number {
  const slowest = [...outcomes].sort((a, b) => b.seconds - a.seconds);
  const rows = slowest.map(({ server, seconds, code }) => [
    server.entrypoint,
    seconds.toFixed(1),
    String(code),
  ]);
  out("");
  out(renderTable({ title: "Time", columns: ["Server", "Seconds", "Exit code"], rows }, terminal));
  const list = (title: string, members: readonly Outcome[]) => {
    if (members.length === 0) return;
    const share = ((100 * members.length) / outcomes.length).toFixed(1);
    out(`\n${title}: ${members.length} / ${outcomes.length} (${share}%)`);
    for (const { server } of members) out(`  - ${server.entrypoint}`);
  };
  for (const [title, matches] of LISTS)
    list(
      title,
      outcomes.filter(({ code }) => matches(code)),
    );
  const badData = outcomes.filter(({ dataProblems }) => dataProblems.length > 0);
  list("Incomplete data", badData);
  for (const { dataProblems } of badData) for (const problem of dataProblems) out(`    ${problem}`);
  const undocumented = found.filter((server) => !documented.includes(server));
  if (undocumented.length > 0) {
    out(
      `\nNot tested, because they have no README.md: ${undocumented.map(({ entrypoint }) => entrypoint).join(", ")}`,
    );
  }
  const mismatch = keys.fail_on_total_and_test_mismatch && undocumented.length > 0;
  return outcomes.some(({ code }) => code !== 0) || badData.length > 0 || mismatch ? 1 : 0;
}

function isInside(folder: string, parent: string): boolean {
  const relative = path.relative(parent, folder);
  return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

/** Every server folder under the roots, sorted; an earlier root hides a later one. */
function allServers({ roots }: CommandContext): ServerFolder[] {
  const servers = new Map<string, ServerFolder>();
  for (const root of roots) {
    for (const type of serverTypes) {
      for (const name of subfolders(path.join(root, type))) {
        const entrypoint = `${type}/${name}`;
        if (servers.has(entrypoint)) continue;
        servers.set(entrypoint, { type, name, entrypoint, directory: path.join(root, type, name) });
      }
    }
  }
  return [...servers.values()].sort((a, b) => (a.entrypoint < b.entrypoint ? -1 : 1));
}
