import { defineCommand } from "../command.ts";

const shells = ["bash", "zsh", "fish"] as const;

export const completion = defineCommand({
  description:
    "Print a script that teaches your shell to complete the commands, flags and component names of gym and ng.",
  flags: {},
  positionals: { SHELL: { help: "the shell", choices: shells } },
  examples: [
    "source <(gym completion bash)",
    "source <(gym completion zsh)",
    "gym completion fish > ~/.config/fish/completions/gym.fish",
  ],
  async run({ positionals, program, installRoot, out }) {
    const { completionScript } = await import("../completion/script.ts");
    out(await completionScript(positionals.SHELL, program, installRoot));
    return 0;
  },
});
