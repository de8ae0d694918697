import { cliAgentConfig, defineCliAgent, harnessSandbox } from "nemo-gym/agents";
import { laxBool } from "nemo-gym/openai";
import { z } from "zod";
import { launchOpencode, readEvent } from "./launch.ts";

const VERSION = "1.18.33";

const opencodeConfig = cliAgentConfig.extend({
  opencode_version: z.string().nullish(),
  thinking: laxBool().default(false),
  /** Merged into opencode.json, together with the provider `nemo`. */
  opencode_config: z.record(z.string(), z.unknown()).default({
    permission: { bash: "allow", edit: "allow", webfetch: "allow", external_directory: "allow" },
  }),
});

/** OpenCode on the model server's `/v1/chat/completions`. `isSandboxed`: runs in a sandbox unless the config says otherwise. */
export const opencodeAgent = (name: string, isSandboxed: boolean) =>
  defineCliAgent({
    name,
    config: opencodeConfig.extend({ sandbox: harnessSandbox.default(isSandboxed) }),
    program: ({ opencode_version }) => ({
      package: "opencode-ai",
      command: "opencode",
      version: opencode_version ?? VERSION,
    }),
    launch: (request) =>
      launchOpencode(request, {
        prefix: "OPENCODE",
        args: [...(request.config.thinking ? ["--thinking"] : []), ...request.config.extra_args],
        settings: { $schema: "https://opencode.ai/config.json", ...request.config.opencode_config },
        contextWindow: 262_144,
        maxOutputTokens: 131_072,
      }),
    read: readEvent,
  });
