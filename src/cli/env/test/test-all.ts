import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { searchRoots } from "../../../config/paths.ts";
import { serverTypes } from "../../../config/servers/server-types.ts";
import type { CommandContext } from "../../command.ts";
import type { KeyValues } from "../../config-keys.ts";
import { renderTable } from "../../render/table.ts";
import type { testKeys } from "../keys.ts";
import type { ServerFolder } from "../server-folder.ts";
import { checkDataFiles } from "./data-files.ts";
import { runServerTests } from "./run-tests.ts";

type TestAllKeys = KeyValues<typeof testKeys>;

interface Outcome {
  readonly server: ServerFolder;
  readonly code: number;
  readonly seconds: number;
  readonly dataProblems: readonly string[];
}

const LISTS = [
  { title: "Passed", matches: (code: number) => code === 0 },
  { title: "Failed", matches: (code: number) => code === 1 || code === 2 },
  { title: "Without tests", matches: (code: number) => code === 5 },
  { title: "Unrecognised exit code", matches: (code: number) => ![0, 1, 2, 5].includes(code) },
] as const;

/** Runs the tests of every server that has a README, and checks the data of resources servers. */
export async function testAll(context: CommandContext, keys: TestAllKeys): Promise<number> {
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
    out(
      `The ${all.length - own.length} servers that come with the package are left out; --all tests them too.`,
    );
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
  const list = (title: string, members: readonly string[]) => {
    if (members.length === 0) return;
    const share = ((100 * members.length) / Math.max(1, outcomes.length)).toFixed(1);
    out(`\n${title}: ${members.length} / ${outcomes.length} (${share}%)`);
    for (const member of members) out(`  - ${member}`);
  };
  for (const { title, matches } of LISTS) {
    const members = outcomes.filter(({ code }) => matches(code));
    list(
      title,
      members.map(({ server }) => server.entrypoint),
    );
  }
  const badData = outcomes.filter(({ dataProblems }) => dataProblems.length > 0);
  list(
    "Incomplete data",
    badData.map(({ server }) => server.entrypoint),
  );
  for (const { dataProblems } of badData) for (const problem of dataProblems) out(`    ${problem}`);
  const undocumented = found.filter((server) => !documented.includes(server));
  if (undocumented.length > 0) {
    out(
      `\nNot tested, since they have no README.md: ${undocumented.map(({ entrypoint }) => entrypoint).join(", ")}`,
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
function allServers({ io, env, installRoot }: CommandContext): ServerFolder[] {
  const servers = new Map<string, ServerFolder>();
  for (const root of searchRoots({ cwd: io.cwd, env, installRoot })) {
    for (const type of serverTypes) {
      const parent = path.join(root, type);
      if (!existsSync(parent)) continue;
      for (const entry of readdirSync(parent, { withFileTypes: true })) {
        const entrypoint = `${type}/${entry.name}`;
        const directory = path.join(parent, entry.name);
        if (!entry.isDirectory() || servers.has(entrypoint)) continue;
        servers.set(entrypoint, { type, name: entry.name, entrypoint, directory });
      }
    }
  }
  return [...servers.values()].sort((a, b) => (a.entrypoint < b.entrypoint ? -1 : 1));
}
