import type { CommandContext, FlagTable, PositionalTable } from "../command.ts";

/** What the dataset commands need of a context, whatever their flags are. */
export type DatasetContext = Pick<
  CommandContext<FlagTable, PositionalTable>,
  "io" | "env" | "json" | "overrides" | "signal" | "terminal" | "installRoot" | "resolve" | "out" | "err"
>;
