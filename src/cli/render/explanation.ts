import type { Explanation } from "../../config/resolve.ts";
import type { Terminal } from "./terminal.ts";
import { padEnd, textWidth } from "./text-width.ts";

/** Longer values are cut here; `--json` shows them whole. */
const MAX_VALUE_LENGTH = 120;

/** The sources of a value, lowest precedence first, the winner marked; below it those of the keys it refers to. */
export function formatExplanation(explanation: Explanation, terminal: Terminal): string {
  return explanationLines(explanation, terminal).join("\n");
}

function explanationLines(
  { path, value, sources, references = [] }: Explanation,
  terminal: Terminal,
): string[] {
  const width = Math.max(0, ...sources.map(({ where }) => textWidth(where)));
  const shown = value === undefined ? terminal.dim("(not in the final config)") : valueText(value);
  return [
    `${terminal.bold(path)} = ${shown}`,
    ...sources.map(({ where, value: given, won }) => {
      return `${won ? terminal.green("✓") : " "} ${padEnd(where, width)}  ${valueText(given)}`;
    }),
    ...references.flatMap((reference) => explanationLines(reference, terminal).map((line) => `    ${line}`)),
  ];
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH - 1)}…`;
}
