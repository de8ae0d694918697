import { defineCommand } from "../command.ts";
import {
  configFlag,
  jsonFlag,
  modelFlags,
  searchDirFlag,
  selectorFlags,
  workloadKindFlag,
  workloadName,
} from "../flags.ts";

export const envValidate = defineCommand({
  description:
    "Check a config without starting anything: paths, YAML, interpolations, ??? values, server schemas and references. " +
    "No model has to be configured; give one to have it checked too.\n\n" +
    "With NAME or --manifest: check the manifest of an environment or benchmark against its config and its data.",
  flags: {
    ...configFlag,
    ...selectorFlags,
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
    "gym env validate --benchmark gpqa --model-type openai_model",
    "gym env validate my_quiz --sync",
    "gym env validate --manifest environments/my_quiz/manifest.yaml --json",
  ],
  resolve: { noModel: true },
  async run(context) {
    const { json, resolve, out, terminal } = context;
    const { choosesManifest, validateManifest } = await import("../env/validate-manifest.ts");
    if (choosesManifest(context)) return validateManifest(context);
    if (json) {
      const { validationReport } = await import("../validation-report.ts");
      const report = await validationReport(resolve);
      out(JSON.stringify(report));
      return report.valid ? 0 : 1;
    }
    const config = await resolve();
    const { codeWarnings } = await import("../env/code-warnings.ts");
    for (const warning of codeWarnings(config, context)) context.err(`Warning: ${warning}`);
    out(`${terminal.green("✓")} Config is valid.`);
    return 0;
  },
});
