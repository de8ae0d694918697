import type { CommandContext } from "../../command.ts";
import { listingKeys } from "../../config-keys.ts";
import { UsageError } from "../../errors.ts";
import { testKeys } from "../keys.ts";
import { findServerFolder } from "../server-folder.ts";
import { givenKeys, testWorkload } from "../workload.ts";
import { checkDataFiles } from "./data-files.ts";
import { runServerTests } from "./run-tests.ts";
import { testAll } from "./test-all.ts";

/** Runs `gym env test`. */
export async function testServers(context: CommandContext): Promise<number> {
  if (choosesWorkload(context)) return testWorkload(context);
  const keys = await listingKeys(context, testKeys);
  if (keys.entrypoint !== undefined) return testOne(context, keys.entrypoint, keys.should_validate_data);
  if (keys.shard_index >= keys.num_shards) {
    throw new UsageError(`shard_index ${keys.shard_index} must be below num_shards ${keys.num_shards}`);
  }
  return testAll(context, keys);
}

/** Whether a workload is named; options of a workload are refused without one. */
function choosesWorkload(context: CommandContext): boolean {
  const given = givenKeys(context);
  const named = given.includes("onboarding_name");
  if (named && given.includes("entrypoint"))
    throw new UsageError("choose a workload by its NAME or a server by --resources-server, not both");
  if (!named && (context.json || given.includes("catalog_kind") || given.includes("update_expected")))
    throw new UsageError("--kind, --update-expected and --json need the NAME of a workload");
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
