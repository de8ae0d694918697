import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { resolveLeniently } from "../../../config/config-metadata.ts";
import { GymError } from "../../../errors.ts";
import { readSettings } from "../../../workloads/audit/settings.ts";
import { loadManifest } from "../../../workloads/publish/load-manifest.ts";
import { CASES_FILE } from "../../../workloads/verifier-cases/cases.ts";
import { contractOf, type RewardContract } from "../../../workloads/verifier-cases/contract.ts";
import { exerciseInProcess } from "../../../workloads/verifier-cases/fixture-process.ts";
import type { CommandContext } from "../../command.ts";
import type { ServerFolder } from "../server-folder.ts";
import { catalogEntries, workloadOptions } from "../workload.ts";

/** Runs the verifier cases of a resources server, if any, and returns the exit code. */
export async function runServerCases(context: CommandContext, server: ServerFolder): Promise<number> {
  const { out, err, terminal, signal } = context;
  const { type, directory, entrypoint } = server;
  const file = path.join(directory, CASES_FILE);
  // Python servers run their cases with their tests.
  if (type !== "resources_servers" || !existsSync(file) || existsSync(path.join(directory, "app.py")))
    return 0;
  const { process, ...places } = workloadOptions(context);
  try {
    const target = configuredServer(server, places);
    for (const contract of await declaredContracts(context, server, target.configFile)) {
      const request = { ...places, ...target, file, contract, updateExpected: false };
      const cases = await exerciseInProcess(request, process);
      const [low, high] = contract.range;
      out(
        `${terminal.green("✓")} Verifier: ${entrypoint} ${cases.length} cases passed, rewards from ${low} to ${high}.`,
      );
    }
    return 0;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GymError)) throw error;
    err(`The verifier cases of ${entrypoint} failed: ${error.message}`);
    return 1;
  }
}

/** The config with the server's name, else its first config, and the server in it. */
function configuredServer(
  { name, directory }: ServerFolder,
  places: Omit<ReturnType<typeof workloadOptions>, "process">,
): { configFile: string; instance: string } {
  const folder = path.join(directory, "configs");
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".yaml")) : [];
  const file = files.includes(`${name}.yaml`) ? `${name}.yaml` : files.sort()[0];
  if (file === undefined) throw new GymError("SERVER_FOLDER", `There is no config in ${folder}.`);
  const configFile = path.join(folder, file);
  const { servers } = resolveLeniently(configFile, places);
  const instance = servers.find(
    (found) => found.type === "resources_servers" && found.implementation === name,
  );
  if (instance === undefined)
    throw new GymError("SERVER_FOLDER", `${configFile} configures no resources server '${name}'.`);
  return { configFile, instance: instance.name };
}

/** The contracts of manifests that use the server; without any, the rewards of its audit settings. */
async function declaredContracts(
  context: CommandContext,
  { name, directory }: ServerFolder,
  configFile: string,
): Promise<RewardContract[]> {
  const contracts: RewardContract[] = [];
  for (const { manifestFile } of await catalogEntries(context)) {
    if (manifestFile === undefined || existsSync(path.join(path.dirname(manifestFile), CASES_FILE))) continue;
    const manifest = loadManifest(manifestFile);
    const contract = contractOf(manifest);
    if (manifest.resources_server !== name) continue;
    if (!contracts.some((known) => isDeepStrictEqual(known, contract))) contracts.push(contract);
  }
  if (contracts.length > 0) return contracts;
  const { minimum, maximum } = readSettings(directory, path.basename(configFile, ".yaml")).reward;
  return [{ range: [minimum, maximum], higherIsBetter: true, determinism: "unknown" }];
}
