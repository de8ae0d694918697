import { defineCommand } from "../command.ts";
import { configFlag, modelFlags, searchDirFlag, selectorFlags } from "../flags.ts";

export const envValidate = defineCommand({
  description:
    "Check a config without starting anything: paths, YAML, interpolations, ??? values, server schemas and references. " +
    "No model has to be configured; give one to have it checked too.",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...searchDirFlag,
    ...modelFlags,
    json: { kind: "switch", help: "print JSON" },
  },
  examples: [
    "gym env validate --config my_env.yaml",
    "gym env validate --benchmark gpqa --model-type openai_model",
  ],
  resolve: { noModel: true },
  async run(context) {
    const { flags, resolve, out, terminal } = context;
    if (flags.json) {
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
