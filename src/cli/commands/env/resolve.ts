import { defineCommand } from "../../command.ts";
import { agentTypeFlags, configFlag, modelFlags, searchDirFlag, selectorFlags } from "../../flags.ts";

export const envResolve = defineCommand({
  description:
    "Resolve the configs, flags and overrides into the final merged config and print it as YAML. Secrets are hidden.",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...agentTypeFlags,
    ...searchDirFlag,
    ...modelFlags,
    json: { kind: "switch", help: "print JSON" },
    explain: {
      kind: "text",
      metavar: "KEY",
      help: "instead show every source that set this key (dots between levels), in order, and which one won",
    },
  },
  examples: [
    "gym env resolve --config my_env.yaml +limit=5",
    "gym env resolve --config my_env.yaml --explain policy_model.responses_api_models",
  ],
  resolve: { hideSecrets: true },
  printsData: true,
  async run({ flags, resolve, out, terminal }) {
    const config = await resolve();
    if (flags.explain === undefined) {
      out(flags.json ? JSON.stringify(config.toObject(), undefined, 2) : config.toYaml({ resolve: true }));
      return 0;
    }
    const { explainKey, formatExplanation } = await import("../../explain-key.ts");
    const explanation = explainKey(config, flags.explain);
    out(flags.json ? JSON.stringify(explanation, undefined, 2) : formatExplanation(explanation, terminal));
    return 0;
  },
});
