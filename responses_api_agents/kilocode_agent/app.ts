import { cliAgentConfig, defineCliAgent } from "nemo-gym/agents";
import { laxBool, laxInt } from "nemo-gym/openai";
import { z } from "zod";
import { launchOpencode, readEvent } from "../../libraries/opencode/launch.ts";

const VERSION = "7.7.7";

const config = cliAgentConfig.extend({
  kilo_version: z.string().nullish(),
  thinking: laxBool().default(false),
  /** Merged into kilo.json, together with the provider `nemo`. */
  kilo_config: z.record(z.string(), z.unknown()).default({}),
  context_window: laxInt().default(32_768),
  max_output_tokens: laxInt().default(8192),
  reasoning_field: z.string().default("reasoning_content"),
});

/** Kilo Code, which was made from OpenCode, on the model server's `/v1/chat/completions`. */
export default defineCliAgent({
  name: "KilocodeAgent",
  config,
  program: ({ kilo_version }) => ({
    package: "@kilocode/cli",
    command: "kilo",
    version: kilo_version ?? VERSION,
  }),
  launch: (request) => {
    const { thinking, extra_args, kilo_config, context_window, max_output_tokens, reasoning_field } =
      request.config;
    return launchOpencode(request, {
      prefix: "KILO",
      args: ["--auto", "--pure", ...(thinking ? ["--thinking"] : []), ...extra_args],
      env: { KILO_NO_DAEMON: "1", KILO_DB: ":memory:", KILO_TELEMETRY_LEVEL: "off" },
      settings: kilo_config,
      contextWindow: context_window,
      maxOutputTokens: max_output_tokens,
      reasoningField: reasoning_field,
    });
  },
  read: readEvent,
});
