import { defineCommand } from "../command.ts";
import { jsonFlag } from "../flags.ts";

const shells = ["bash", "zsh", "fish"] as const;

export const toolCommands = [
  defineCommand({
    words: "sandbox doctor",
    summary: "show which sandbox providers work on this machine",
    description:
      "Try every sandbox provider on this machine: which of them work, in what version, and why the others do not. " +
      "The exit code is 1 when none works.",
    flags: { ...jsonFlag },
    examples: ["gym sandbox doctor", "gym sandbox doctor --json"],
    run: async (context) => (await import("../sandbox.ts")).runDoctor(context),
  }),
  defineCommand({
    words: "sandbox ls",
    summary: "list the sandboxes of this machine",
    description:
      "List the sandboxes of this machine, and whether the process that created each still runs. " +
      "Sandboxes of services (daytona, e2b, modal, opensandbox) are not listed.",
    flags: { ...jsonFlag },
    examples: ["gym sandbox ls", "gym sandbox ls --json"],
    run: async (context) => (await import("../sandbox.ts")).listSandboxes(context),
  }),
  defineCommand({
    words: "sandbox gc",
    summary: "remove sandboxes that dead runs left behind",
    description:
      "Remove leftover sandboxes whose process has ended. Sandboxes in use and those of other machines are kept.",
    flags: {
      "dry-run": { kind: "switch", help: "list what would be removed, and remove nothing" },
      ...jsonFlag,
    },
    examples: ["gym sandbox gc --dry-run", "gym sandbox gc"],
    run: async (context) =>
      (await import("../sandbox.ts")).removeLeftSandboxes(context, context.flags["dry-run"]),
  }),
  defineCommand({
    words: "math check",
    summary: "compare two answers and say which rule decided",
    description:
      "Compare an expected answer with a given one, as math_with_judge does: print the verdict, both answers as they were read, and the rule " +
      "that decided. An answer without LaTeX marks is read as the content of a box. Exit code 0: equal, 1: not equal.",
    flags: {
      mode: {
        kind: "text",
        choices: ["compat", "strict"],
        default: "compat",
        help: "decide like math-verify 0.8, or mathematically correctly",
      },
      text: { kind: "switch", help: "ANSWER is a whole reply: search it for the answer" },
      ...jsonFlag,
    },
    positionals: {
      GOLD: { literal: true, help: "the expected answer, in LaTeX" },
      ANSWER: { literal: true, help: "the answer, or a reply with the answer in it" },
    },
    examples: [
      "gym math check '\\frac{1}{2}' '0.5'",
      "gym math check '[0,\\infty)' 'x\\ge 0' --mode strict",
      "gym math check 42 'So the answer is 42.' --text",
    ],
    run: async (context) =>
      (await import("../math-check.ts")).checkPair(context, context.positionals, context.flags),
  }),
  defineCommand({
    words: "dev test",
    summary: "run the unit tests of this project with coverage",
    legacy: ["dev_test"],
    description:
      "Run the unit tests of the project in the working directory with coverage; the exit code is the runner's.",
    flags: {},
    examples: ["gym dev test"],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../env/test/vitest.ts")).runDevTests(context),
  }),
  defineCommand({
    words: "completion",
    summary: "print a completion script for your shell",
    description:
      "Print a completion script for your shell: commands, flags and component names of gym and ng.",
    flags: {},
    positionals: { SHELL: { help: "the shell", choices: shells } },
    examples: [
      "source <(gym completion bash)",
      "source <(gym completion zsh)",
      "gym completion fish > ~/.config/fish/completions/gym.fish",
    ],
    async run({ positionals, program, installRoot, out }) {
      const { completionScript } = await import("../completion/script.ts");
      out(completionScript(positionals.SHELL, program, installRoot));
      return 0;
    },
  }),
];
