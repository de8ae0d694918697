import { NoServerInstancesError } from "../../../config/errors.ts";
import type { ResolvedConfig } from "../../../config/resolve.ts";
import { defineCommand } from "../../command.ts";
import {
  agentTypeFlags,
  configFlag,
  jsonFlag,
  modelFlags,
  searchDirFlag,
  selectorFlags,
  workloadKindFlag,
  workloadName,
} from "../../flags.ts";

export const envValidate = defineCommand({
  description:
    "Check a config without starting anything: paths, YAML, interpolations, ??? values, server blocks and references. " +
    "No model has to be configured; give one to have it checked too. The servers' code is loaded to check their keys; " +
    "a key that nothing reads gets a warning that names the nearest valid one. With --deep, code that is missing or broken is an error instead of a warning.\n\n" +
    "With NAME or --manifest: check the manifest of an environment or benchmark against its config and its data.",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...agentTypeFlags,
    ...searchDirFlag,
    ...modelFlags,
    ...workloadKindFlag,
    manifest: {
      kind: "text",
      key: "manifest_path",
      metavar: "PATH",
      completes: "file",
      help: "the manifest to check, instead of NAME",
    },
    deep: {
      kind: "switch",
      help: "refuse code that is missing or cannot be loaded, and values that cannot be resolved",
    },
    sync: {
      kind: "switch",
      key: "sync",
      help: "bring the fields of the manifest that repeat the config up to date",
    },
    ...jsonFlag,
  },
  positionals: workloadName,
  examples: [
    "gym env validate --config my_env.yaml",
    "gym env validate --resources-server my_quiz --deep",
    "gym env validate --benchmark gsm8k --model-type openai_model",
    "gym env validate my_quiz --sync",
    "gym env validate --manifest environments/my_quiz/manifest.yaml --json",
  ],
  resolve: { noModel: true },
  async run(context) {
    const { json, resolve, out, terminal, flags } = context;
    const { choosesManifest } = await import("../../env/chosen-form.ts");
    if (choosesManifest(context)) {
      const { validateManifest } = await import("../../env/validate-manifest.ts");
      return validateManifest(context);
    }
    const { checkServers } = await import("../../env/check-servers.ts");
    const check = (config: ResolvedConfig) => checkServers(config, context, { deep: flags.deep === true });
    if (json) {
      const { validationReport } = await import("../../validation-report.ts");
      const report = await validationReport(async () => {
        const config = requireContent(await resolve());
        return { config, warnings: await check(config) };
      });
      out(JSON.stringify(report));
      return report.valid ? 0 : 1;
    }
    const config = requireContent(await resolve());
    for (const warning of await check(config)) context.err(`Warning: ${warning}`);
    out(`${terminal.green("✓")} Config is valid.`);
    return 0;
  },
});

/** A config without servers has nothing that could be valid. */
function requireContent(config: ResolvedConfig): ResolvedConfig {
  if (config.servers.some(({ implementation }) => implementation !== "dummy_model")) return config;
  throw new NoServerInstancesError(
    "The config has no servers, so there is nothing to validate. Name one with --config FILE, --resources-server NAME or another selector.",
  );
}
