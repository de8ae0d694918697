import { z } from "zod";
import {
  checkOptions,
  flag,
  numberOption,
  type OptionTable,
  oneOfWords,
  text,
  texts,
  whole,
} from "../../base/check-options.ts";
import type { Row } from "../../records/files/door.ts";
import { SYSTEM_PROMPT_ROLES, type TextOverrides } from "../inputs/text-overrides.ts";
import { type EvaluationOptions, evaluationOptionTable } from "../options.ts";
import { PROPOSERS, type Proposer, type ProposerName } from "./proposers.ts";
import { SELECTORS, type Selector, type SelectorName } from "./selectors.ts";
import type { SplitSource } from "./splits.ts";

/** Options that every run of the optimization gets. */
const RUN_OPTIONS = [
  "agent",
  "concurrency",
  "maxAttempts",
  "rolloutTimeoutSeconds",
  "params",
  "promptConfig",
  "skills",
  "checkRows",
  "queue",
  "signal",
  "drain",
  "roots",
  "installRoot",
  "cwd",
  "ownsProcess",
  "env",
] as const satisfies readonly (keyof EvaluationOptions)[];

type RunOption = (typeof RUN_OPTIONS)[number];

export interface OptimizeOptions extends Pick<EvaluationOptions, RunOption> {
  /** The texts to improve: `system_prompt`, `tools.*.description`, `prompt.user`, `skills=DIR`, `config.KEY`. */
  components: readonly string[];
  /** Directory of the results. */
  output: string;
  /** Rows that are divided into the splits. Default: the example data of the config's agents. */
  input?: string | readonly Row[];
  /** Tasks to learn from: a number of rows, or a file. Default: 20. */
  train?: SplitSource;
  /** Tasks that decide which candidate is best. Default: 20. */
  val?: SplitSource;
  /** Tasks for the proof. They are used once, at the end. Default: 20. */
  test?: SplitSource;
  /** Model server of the config that proposes texts. Default: `policy_model`. */
  reflectionModel?: string;
  /** Budget of all rollouts, those of the test included. Default: 500. */
  maxRollouts?: number;
  /** Budget of the tokens of all rollouts and proposals. Default: none. */
  maxTokens?: number;
  /** Budget in dollars. Default: `max_cost` of the config. */
  maxCost?: number;
  /** Rollouts per task. With several, the reflection model also sees how an attempt that passed differs. Default: 1. */
  repeats?: number;
  /** Training tasks per proposal. Default: 3. */
  minibatch?: number;
  /** Rewards from here on need no improvement. Default: 1. */
  perfectScore?: number;
  /** How texts are proposed. Default: `reflect`. */
  proposer?: ProposerName | Proposer;
  /** How the candidate to change next is selected. Default: `pareto`. */
  selector?: SelectorName | Selector;
  /** How often changes of two candidates are merged, at most. Default: 5. */
  maxMerges?: number;
  /** Role of the system prompt in rows that have none; `user` is for agents without one. Default: `system`. */
  systemPromptRole?: TextOverrides["system_prompt_role"];
  /** Decides the splits and all choices. Default: 0. */
  seed?: number;
  /** Continues the optimization in `output`. */
  resume?: boolean;
}

const split = z.union([z.int().min(1), z.string()], "must be a number of rows of at least 1, or a file");
const strategy = (names: readonly string[], method: string) =>
  z.union(
    [
      z.enum(names as [string, ...string[]]),
      z.custom((value) => typeof Object(value)[method] === "function"),
    ],
    `must be one of ${names.join(", ")}, or an object with ${method}()`,
  );

const runOptionTable = Object.fromEntries(
  RUN_OPTIONS.map((option) => [option, evaluationOptionTable[option]]),
) as Pick<OptionTable<EvaluationOptions>, RunOption>;

const optionTable: OptionTable<OptimizeOptions> = {
  ...runOptionTable,
  components: texts,
  output: text,
  input: z
    .union([z.string(), z.custom(Array.isArray)], "must be the name of a file, or a list of rows")
    .optional(),
  train: split.optional(),
  val: split.optional(),
  test: split.optional(),
  reflectionModel: text.optional(),
  maxRollouts: whole(1).optional(),
  maxTokens: whole(1).optional(),
  maxCost: numberOption.positive("must be more than 0").optional(),
  repeats: whole(1).optional(),
  minibatch: whole(1).optional(),
  perfectScore: numberOption.optional(),
  proposer: strategy(Object.keys(PROPOSERS), "propose").optional(),
  selector: strategy(Object.keys(SELECTORS), "select").optional(),
  maxMerges: whole(0).optional(),
  systemPromptRole: oneOfWords(SYSTEM_PROMPT_ROLES).optional(),
  seed: whole(0).optional(),
  resume: flag.optional(),
};

export function checkOptimizeOptions(options: OptimizeOptions): void {
  checkOptions("optimize", optionTable, options);
}
