import { defineCommand } from "../../command.ts";
import { jsonFlag } from "../../flags.ts";

export const mathCheck = defineCommand({
  description:
    "Compare an expected answer with a given one, as math_with_judge does: print the verdict, both answers as they were read, and the rule " +
    "that decided. An answer without LaTeX marks is read as the content of a box. Exit code 0: equal, 1: not equal.",
  flags: {
    mode: {
      kind: "text",
      choices: ["compat", "strict"],
      default: "compat",
      help: "decide as math-verify 0.8 does, or as mathematics does",
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
    (await import("../../math/check.ts")).checkPair(context, context.positionals, context.flags),
});
