import { existsSync } from "node:fs";
import path from "node:path";
import { WorkloadError } from "../../../config/errors.ts";
import { currentComponentName } from "../../../config/light-door.ts";
import { type RootOptions, searchRoots } from "../../../config/paths.ts";
import {
  installNodeDependencies,
  locateServer,
  type ServerCode,
  ServerCodeError,
} from "../../../servers/hosting/light-door.ts";
import { loadManifest } from "../catalog/manifest.ts";
import { VerifierFixtureError } from "../errors.ts";
import { CASES_FILE, contractOf } from "../verifier-cases/cases.ts";
import type { CaseResult } from "../verifier-cases/exercise.ts";
import { exerciseInProcess, type FixtureProcessOptions } from "../verifier-cases/fixture-process.ts";
import type { Component } from "./composition.ts";
import { type WorkloadReport, workloadRoots } from "./validate-workload.ts";

/** The output of `gym env test NAME --json`. */
export interface VerifierReport {
  readonly name: string;
  readonly kind: string;
  readonly resources_server: string;
  readonly manifest_path: string;
  readonly fixture_path: string;
  readonly cases: readonly CaseResult[];
}

export interface VerifyWorkloadOptions extends Required<RootOptions> {
  readonly updateExpected?: boolean;
  readonly process: FixtureProcessOptions;
}

/** Runs the verifier cases of a valid workload, with the server configured as in the workload. */
export async function verifyWorkload(
  validation: WorkloadReport,
  options: VerifyWorkloadOptions,
): Promise<VerifierReport> {
  const { name, kind, manifest_path: manifestFile, config_path: configFile } = validation;
  const server = validation.components.find(({ role }) => role === "resources_server");
  if (server === undefined) throw new WorkloadError(`The ${kind} '${name}' has no resources server to test.`);
  const places = workloadRoots(manifestFile, options);
  const code = serverCode(server, searchRoots(places));
  const file = casesFor(manifestFile, server, code.directory);
  if (code.hasOwnDependencies)
    await installNodeDependencies(server.name, code.directory, options.process.signal);
  try {
    const cases = await exerciseInProcess(
      {
        ...places,
        configFile,
        instance: server.name,
        file,
        contract: contractOf(loadManifest(manifestFile)),
        updateExpected: options.updateExpected === true,
      },
      { ...options.process, env: places.env },
    );
    const { implementation: resources_server } = server;
    return { name, kind, resources_server, manifest_path: manifestFile, fixture_path: file, cases };
  } catch (error) {
    if (!(error instanceof VerifierFixtureError)) throw error;
    throw new WorkloadError(
      `The verifier of ${kind} '${name}' (${server.implementation}): ${error.message}`,
      { cause: error },
    );
  }
}

function serverCode({ name, implementation, entrypoint }: Component, roots: readonly string[]): ServerCode {
  const instance = {
    name,
    type: "resources_servers",
    implementation: currentComponentName(implementation),
    entrypoint: entrypoint ?? "app.ts",
  } as const;
  let code: ServerCode;
  try {
    code = locateServer(instance, roots);
  } catch (error) {
    if (!(error instanceof ServerCodeError)) throw error;
    throw new WorkloadError(error.message, { cause: error });
  }
  if (code.language === "python")
    throw new WorkloadError(
      `${code.entry} is written in Python; its verifier cases run with its own tests (\`gym env test --resources-server ${implementation}\`).`,
    );
  return code;
}

/** The verifier cases of the workload, or those of its server. */
function casesFor(manifestFile: string, { implementation }: Component, directory: string): string {
  const own = path.join(path.dirname(manifestFile), CASES_FILE);
  const file = existsSync(own) ? own : path.join(directory, CASES_FILE);
  if (existsSync(file)) return file;
  throw new WorkloadError(
    `There are no verifier cases: write resources_servers/${implementation}/${CASES_FILE} with a full_reward, a ` +
      `zero_reward and a malformed case.`,
  );
}
