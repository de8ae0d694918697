import { defineCommand } from "../command.ts";
import { configFlags, jsonFlag, textFlag } from "../flags.ts";

export const boardCommands = [
  defineCommand({
    words: "board",
    summary: "compare the models of many runs, environment by environment",
    description:
      "Show all finished runs below some directories as one board: for each environment its models with mean reward, interval, pass@k, pass^k and cost, " +
      "which differences are significant, and what changed since the run before. Differences are tested on the tasks that two runs have in common, and p-values are corrected for all tests of the board. " +
      "Means of environments with different reward ranges are never mixed. Unfinished runs, exports and other files are listed, not averaged.",
    flags: {
      environment: {
        kind: "text",
        metavar: "NAME",
        repeatable: true,
        help: "only this environment, with the trend of its runs; may be given several times",
      },
      "to-folder": {
        kind: "text",
        metavar: "DIRECTORY",
        completes: "directory",
        help: "write the board as a folder of static pages for any web host, and exit",
      },
      "fail-on-regression": {
        kind: "switch",
        help: "exit with 3 if a model is significantly worse than in its run before",
      },
      ...jsonFlag,
    },
    positionals: {
      DIR: {
        completes: "directory",
        many: true,
        optional: true,
        help: "directories with runs, or rollouts files (default: results)",
      },
    },
    examples: [
      "gym board",
      "gym board results/january results/february",
      "gym board results --environment mcqa",
      "gym board results --json",
      "gym board results --to-folder site",
    ],
    run: async (context) =>
      (await import("../board/board.ts")).showBoard(context, context.positionals.DIR, context.flags),
  }),
  defineCommand({
    words: "run pack",
    summary: "pack a run into one file",
    description:
      "Pack the files of a run into one .gymrun file: rows in compressed chunks, and a directory with their places and digests. The viewer, the board and eval compare read it without " +
      "unpacking. Logs are not packed.",
    flags: {
      output: {
        kind: "text",
        short: "o",
        metavar: "FILE",
        completes: "file",
        help: "the packed run (default: RUN.gymrun)",
      },
      ...jsonFlag,
    },
    positionals: { RUN: { completes: "file", help: "rollouts file, or the directory of a run" } },
    examples: ["gym run pack results/my_agent/2026-01-31T12-00-00 -o january.gymrun"],
    run: async (context) =>
      (await import("../packed/packed.ts")).pack(context, context.positionals.RUN, context.flags.output),
  }),
  defineCommand({
    words: "run verify",
    summary: "check a packed run against its digests",
    description:
      "Check every byte of a packed run against its digests, read all rollouts, and print their mean reward. --reverify also scores the rollouts again with the verifiers of a config, and " +
      "exits with 3 if a reward is another one.",
    flags: {
      ...configFlags,
      reverify: { kind: "switch", help: "score the rollouts again, with the verifiers of a config" },
      force: {
        kind: "switch",
        help: "with --reverify: also with servers that do not declare that this is safe",
      },
      digest: textFlag("SHA256", "exit with 1 if the packed run has another digest"),
      ...jsonFlag,
    },
    positionals: { FILE: { completes: "file", help: "a packed run (.gymrun)" } },
    examples: [
      "gym run verify january.gymrun",
      "gym run verify january.gymrun --reverify --resources-server mcqa",
    ],
    resolve: { noModel: true },
    run: async (context) =>
      (await import("../packed/packed.ts")).verify(context, context.positionals.FILE, context.flags),
  }),
];
