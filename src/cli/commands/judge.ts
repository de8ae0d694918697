import { defineCommand } from "../command.ts";
import {
  configFlag,
  jsonFlag,
  modelFlags,
  numberFlag,
  searchDirFlag,
  selectorFlags,
  textFlag,
} from "../flags.ts";

const RUN = { completes: "file", help: "rollouts file, or the directory of a run" } as const;

const judgedFlags = {
  agent: textFlag("NAME", "agent whose rollouts are meant; optional when only one has a judge"),
  threshold: {
    ...numberFlag("REWARD", { minimum: -1e9 }, "reward from which the judge accepts an answer"),
    default: "0.5",
  },
} as const;

export const judgeCommands = [
  defineCommand({
    words: "judge label",
    summary: "label rollouts by hand, without seeing how they were judged",
    description:
      "Let people say whether answers are right, without seeing reward, verdict and model. Opens a queue in the viewer, with a key for each label; --terminal asks here instead. " +
      "Rollouts about which votes disagree come first. Labels are appended to RUN_labels.jsonl at once, so the work can stop at any time; the same command continues it. Several people can label at the same time.",
    flags: {
      sample: {
        ...numberFlag(
          "N",
          { minimum: 1, whole: true },
          "label N rollouts; a larger sample contains a smaller one",
        ),
        default: "100",
      },
      ...judgedFlags,
      labels: {
        kind: "text",
        metavar: "FILE",
        completes: "file",
        help: "file of the labels (default: RUN_labels.jsonl)",
      },
      labeller: textFlag("NAME", "who labels (default: the user of this machine; the page asks)"),
      by: {
        kind: "text",
        choices: ["human", "model"],
        default: "human",
        help: "model: marks the labels as made by a model; they never count as those of people",
      },
      each: numberFlag("N", { minimum: 1, whole: true }, "leave out rollouts that N people have labelled"),
      seed: { ...numberFlag("N", { minimum: 0, whole: true }, "chooses the rollouts"), default: "0" },
      terminal: { kind: "switch", help: "ask in the terminal instead of the browser" },
      host: { ...textFlag("HOST", "address to listen on; 0.0.0.0 for everyone"), default: "127.0.0.1" },
      port: {
        ...numberFlag(
          "PORT",
          { minimum: 0, maximum: 65535, whole: true },
          "port; the next free one if it is in use",
        ),
        default: "7860",
      },
      "allow-host": {
        kind: "text",
        metavar: "NAME",
        repeatable: true,
        help: "another host name of the viewer, for example behind a proxy",
      },
      open: { kind: "switch", help: "open the page in the default browser" },
      ...jsonFlag,
    },
    positionals: { RUN },
    examples: [
      "gym judge label results/essays/rollouts.jsonl --sample 120",
      "gym judge label results/essays --sample 120 --labeller anna --terminal",
      "gym judge label results/essays --host 0.0.0.0 --each 2",
    ],
    run: async (context) =>
      (await import("../judge/label.ts")).labelRollouts(context, context.positionals.RUN, context.flags),
  }),
  defineCommand({
    words: "judge calibrate",
    summary: "measure how often a judge agrees with people",
    description:
      "Compare the verdicts of a judge with labels of people, and write calibration.json: confusion matrix, true positive and negative rates with intervals, Cohen's kappa with the base rate, Gwet's AC1, Krippendorff's alpha, and the score of the run as people would judge. " +
      "The calibration is about one model, one prompt and one parser. gym eval run and gym eval compare then print corrected scores.",
    flags: {
      labels: {
        kind: "text",
        metavar: "FILE",
        completes: "file",
        repeatable: true,
        help: "labels (default: RUN_labels.jsonl); may be given several times",
      },
      ...judgedFlags,
      output: {
        kind: "text",
        short: "o",
        metavar: "FILE",
        completes: "file",
        help: "where the calibration goes (default: calibration.json next to the rollouts)",
      },
      ...jsonFlag,
    },
    positionals: { RUN },
    examples: [
      "gym judge calibrate results/essays/rollouts.jsonl",
      "gym judge calibrate results/essays --labels anna.jsonl --labels ben.jsonl -o resources_servers/essays/calibration.json",
    ],
    run: async (context) =>
      (await import("../judge/calibrate.ts")).calibrateJudge(context, context.positionals.RUN, context.flags),
  }),
  defineCommand({
    words: "judge stress",
    summary: "try what changes the verdicts of a judge, but should not",
    description:
      "Ask the judge of an environment about answers, and about the same answers changed in ways that should not matter: asked again, padded, in other words, with the two answers swapped, with an injected verdict, and signed or rewritten by the judge itself. " +
      "Reports how often the verdict changes, with intervals. Answers come from the example rows, right and wrong ones, or from a run. The judge is asked for real.",
    flags: {
      ...configFlag,
      "model-type": selectorFlags["model-type"],
      ...searchDirFlag,
      ...modelFlags,
      run: {
        kind: "text",
        metavar: "RUN",
        completes: "file",
        help: "take the answers from the rollouts of this run instead of the example rows",
      },
      answers: { ...numberFlag("N", { minimum: 1, whole: true }, "number of answers"), default: "20" },
      votes: {
        ...numberFlag("N", { minimum: 2, whole: true }, "how often each answer is asked about unchanged"),
        default: "3",
      },
      "max-flips": numberFlag(
        "SHARE",
        { minimum: 0, maximum: 1 },
        "exit with 3 when a larger share of the verdicts changes in one of the probes",
      ),
      ...jsonFlag,
    },
    positionals: {
      ENV: { selector: "environment", help: "environment or resources server with a judge" },
    },
    examples: [
      "gym judge stress simpleqa --model-type openai_model --answers 50",
      "gym judge stress essays --config judge.yaml --run results/essays --max-flips 0.1",
    ],
    resolve: { requireServers: true },
    run: async (context) => (await import("../judge/stress.ts")).stressJudge(context, context.flags),
  }),
];
