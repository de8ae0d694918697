import type { CliProgram } from "../command.ts";
import { boardCommands } from "./board.ts";
import { catalogCommands } from "./catalog.ts";
import { datasetCommands } from "./dataset.ts";
import { distributedCommands } from "./distributed.ts";
import { envCommands } from "./env.ts";
import { evalCommands } from "./eval.ts";
import { judgeCommands } from "./judge.ts";
import { optimizeCommands } from "./optimize.ts";
import { toolCommands } from "./tools.ts";

/** All commands of `gym`. They import their implementation inside `run`, so that the table loads quickly. */
export const program: CliProgram = {
  groups: [
    { name: "list", summary: "list available components" },
    { name: "dataset", summary: "manage datasets" },
    { name: "env", summary: "develop and run environments" },
    { name: "eval", summary: "run evaluations" },
    { name: "judge", summary: "label rollouts, and measure how good their judges are" },
    { name: "run", summary: "pack runs into one file" },
    { name: "queue", summary: "brokers of distributed runs" },
    { name: "scale", summary: "size of distributed runs" },
    { name: "sandbox", summary: "see and remove sandboxes" },
    { name: "math", summary: "compare mathematical answers" },
    { name: "dev", summary: "contributor helpers" },
  ],
  commands: [
    ...catalogCommands,
    ...datasetCommands,
    ...envCommands,
    ...evalCommands,
    ...judgeCommands,
    ...boardCommands,
    ...optimizeCommands,
    ...distributedCommands,
    ...toolCommands,
  ],
};
