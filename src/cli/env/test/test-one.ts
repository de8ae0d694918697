import type { CommandContext } from "../../command.ts";
import { findServerFolder } from "../server-folder.ts";
import { checkDataFiles } from "./data-files.ts";
import { runServerTests } from "./run-tests.ts";

/** Runs the tests of one server, and checks the data it ships when asked. */
export async function testOne(
  context: CommandContext,
  keys: { entrypoint: string; should_validate_data: boolean },
): Promise<number> {
  const server = findServerFolder(context, keys.entrypoint);
  const code = await runServerTests(context, server);
  if (code !== 0) return code;
  if (!keys.should_validate_data || server.type !== "resources_servers") return 0;
  const problems = checkDataFiles(server.directory, server.entrypoint);
  for (const problem of problems) context.out(problem);
  if (problems.length === 0) context.out(`The example data of ${server.entrypoint} is complete.`);
  return problems.length === 0 ? 0 : 1;
}
