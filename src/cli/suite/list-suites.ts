import { errorMessage } from "../../base/errors.ts";
import { findExistingPath, findPath } from "../../config/paths.ts";
import { existingScript, missingSource, needsDownload } from "../../data/door.ts";
import { configuredAgents } from "../../run/door.ts";
import { printTable } from "../catalog/listing.ts";
import type { CommandContext } from "../command.ts";
import { wrapText } from "../render/text-width.ts";
import { memberContext } from "./member-context.ts";
import { findSuite, readSuite, type SuiteMember, suiteFiles } from "./suite-file.ts";

/** `gym list suites`. */
export async function listSuites(context: CommandContext, name: string | undefined): Promise<number> {
  if (name !== undefined) return showSuite(context, name);
  const { out, json, roots } = context;
  const suites = [...suiteFiles(roots)].map(([name, file]) => ({ ...readSuite(file, name), name }));
  if (json) {
    out(
      JSON.stringify(
        suites.map(({ name, file, description, members }) => {
          return { name, file, description, members: members.map((member) => member.name) };
        }),
      ),
    );
    return 0;
  }
  const rows = suites.map(({ name, description, members }) => [name, String(members.length), description]);
  printTable(context, {
    title: `Suites (${suites.length})`,
    columns: ["Name", "Members", "Description"],
    rows,
  });
  return 0;
}

async function showSuite(context: CommandContext, name: string): Promise<number> {
  const { out, json, terminal } = context;
  const suite = findSuite(context, name);
  const members = [];
  for (const member of suite.members) members.push({ ...member, ...(await stateOf(context, member)) });
  if (json) {
    out(JSON.stringify({ name, file: suite.file, description: suite.description, members }));
    return 0;
  }
  const rows = members.map(({ name, settings, expected, state }) => [
    name,
    Object.entries(settings)
      .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
      .join(", "),
    expected === undefined ? "" : `${expected.value} ± ${expected.tolerance}`,
    state,
  ]);
  const title = `${name}: ${suite.description}`;
  printTable(context, { title, columns: ["Member", "Settings", "Expected", "Rows"], rows });
  for (const { name, reason } of members)
    if (reason !== null)
      for (const line of wrapText(`${name} cannot run: ${reason}`, 78)) out(terminal.yellow(line));
  return 0;
}

interface MemberState {
  /** Of the rows, or that the member cannot run. */
  readonly state: string;
  readonly reason: string | null;
}

/** Whether a member can run here: its config resolves, and its rows are here or can be prepared. */
async function stateOf(context: CommandContext, member: SuiteMember): Promise<MemberState> {
  try {
    const own = await memberContext(context, member, "unused");
    const config = await own.resolve({ noModel: true, offline: true });
    const { agents, rejected } = configuredAgents(config);
    const [problem] = rejected.flatMap(({ problems }) => problems);
    if (problem !== undefined) return { state: "cannot run", reason: problem };
    const entries = agents.flatMap(({ datasets }) => datasets);
    const prepared = entries.filter(({ type }) => type === "benchmark");
    for (const entry of prepared) {
      if (entry.type !== "benchmark" || findExistingPath(entry.jsonlPath, context.roots) !== undefined)
        continue;
      const script = existingScript(findPath(entry.prepareScript, context.roots));
      if (script !== undefined && needsDownload(script)) return { state: "needs --prepare", reason: null };
      const missing = script && missingSource(script, context.roots);
      if (missing !== undefined)
        return { state: "cannot run", reason: `its data is not here (${missing}). See its README.` };
      return { state: "example rows", reason: null };
    }
    return { state: prepared.length > 0 ? "prepared" : "example rows", reason: null };
  } catch (error) {
    const [reason = ""] = errorMessage(error).split("\n");
    return { state: "cannot run", reason };
  }
}
