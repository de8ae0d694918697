import type { Explanation, ResolvedConfig } from "../../config/door.ts";
import { ConfigError } from "../../config/errors.ts";
import type { CommandContext } from "../command.ts";
import { hint } from "../hint.ts";
import type { Terminal } from "../render/terminal.ts";
import { padEnd, textWidth } from "../render/text-width.ts";

/** Runs `gym env resolve`. */
export async function showConfig(
  { resolve, out, terminal }: CommandContext,
  { json, explain }: { json: boolean; explain: string | undefined },
): Promise<number> {
  const config = await resolve();
  if (explain === undefined) {
    out(json ? JSON.stringify(config.toObject(), undefined, 2) : config.toYaml({ resolve: true }));
    return 0;
  }
  const explanation = explainKey(config, explain);
  out(json ? JSON.stringify(explanation, undefined, 2) : explanationLines(explanation, terminal).join("\n"));
  return 0;
}

/** The source of a key's value; an unknown key is an error with a hint. */
function explainKey(config: ResolvedConfig, key: string): Explanation {
  const explanation = config.explain(key);
  if (explanation.value === undefined && explanation.sources.length === 0) {
    throw new ConfigError(`No source sets '${key}'.${hint(key, siblingKeys(config, key))}`);
  }
  return explanation;
}

/** The siblings of the first segment that does not exist, as full paths. */
function siblingKeys(config: ResolvedConfig, key: string): string[] {
  const segments = key.split(".");
  for (let depth = 0; depth < segments.length; depth++) {
    const parent = segments.slice(0, depth);
    const value = depth === 0 ? config.toObject() : config.get(parent.join("."));
    if (typeof value !== "object" || value === null) return [];
    if (!Object.hasOwn(value, segments[depth] ?? "")) {
      const rest = segments.slice(depth + 1);
      return Object.keys(value).map((name) => [...parent, name, ...rest].join("."));
    }
  }
  return [];
}

/** Longer values are truncated; `--json` shows them whole. */
const MAX_VALUE_LENGTH = 120;

/**
 * The sources of a value, lowest precedence first, with the winner marked, followed by those of the keys that it refers
 * to.
 */
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
