import type { CommandContext, FlagTable, PositionalTable } from "../command.ts";

/** The part of a context that the dataset commands need, independent of their flags. */
export type DatasetContext = Pick<
  CommandContext<FlagTable, PositionalTable>,
  "io" | "env" | "json" | "overrides" | "signal" | "terminal" | "installRoot" | "resolve" | "out" | "err"
>;
