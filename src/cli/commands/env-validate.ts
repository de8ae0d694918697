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
  async run({ flags, resolve, out, terminal }) {
    if (flags.json) {
      const { validationReport } = await import("../validation-report.ts");
      const report = await validationReport(resolve);
      out(JSON.stringify(report));
      return report.valid ? 0 : 1;
    }
    await resolve();
    out(`${terminal.green("✓")} Config is valid.`);
    return 0;
  },
});
