/**
 * Python's regular expressions on JavaScript strings: the syntax, Unicode classes, `$` and errors of `re`, with bounded time
 * where a backtracking engine needs exponential time. For patterns from data; code uses `RegExp` for its own patterns.
 *
 * @module
 */
import { compileProgram, type PatternProgram } from "./re/compile.ts";
import { Matcher } from "./re/matcher.ts";
import { parsePattern } from "./re/parse.ts";
import { RegexBudgetError } from "./re/syntax-error.ts";

export { RegexBudgetError, RegexSyntaxError } from "./re/syntax-error.ts";

export interface RegexFlags {
  ignoreCase?: boolean;
  multiline?: boolean;
  dotAll?: boolean;
  verbose?: boolean;
  ascii?: boolean;
}

/** One match. Positions are UTF-16 offsets, as in `slice`. */
export class PyMatch {
  readonly start: number;
  readonly end: number;
  private readonly text: string;
  private readonly positions: readonly number[];
  private readonly names: ReadonlyMap<string, number>;

  constructor(text: string, positions: readonly number[], names: ReadonlyMap<string, number>) {
    this.text = text;
    this.positions = positions;
    this.names = names;
    this.start = positions[0] ?? 0;
    this.end = positions[1] ?? 0;
  }

  /** The text of a group, by number or name; null if it did not match. Group 0 is the whole match. */
  group(which: number | string = 0): string | null {
    const index = typeof which === "number" ? which : this.names.get(which);
    if (index === undefined || 2 * index >= this.positions.length) {
      throw new RangeError(`The pattern has no group ${which}.`);
    }
    const end = this.positions[2 * index + 1] ?? -1;
    return end < 0 ? null : this.text.slice(this.positions[2 * index], end);
  }

  /** The texts of all groups except the whole match. */
  groups(): (string | null)[] {
    return Array.from({ length: this.positions.length / 2 - 1 }, (_, index) => this.group(index + 1));
  }
}

/** Steps that each search costs in addition. */
const stepsPerSearch = 10;

/** Limits the total number of steps of several searches. */
export class RegexBudget {
  private left: number;

  constructor(steps: number) {
    this.left = steps;
  }

  /** Runs one search with the remaining steps. */
  run(
    program: PatternProgram,
    text: string,
    search: (matcher: Matcher) => number[] | undefined,
  ): number[] | undefined {
    if (this.left <= 0) throw new RegexBudgetError(0);
    const matcher = new Matcher(program, text, this.left);
    try {
      return search(matcher);
    } finally {
      this.left -= matcher.steps + stepsPerSearch;
    }
  }
}

/** A compiled pattern. */
export class PyRegex {
  /** Number of capture groups. */
  readonly groups: number;
  private readonly program: PatternProgram;

  constructor(program: PatternProgram) {
    this.program = program;
    this.groups = program.groups;
  }

  /** `pattern.search(text)`. Several searches can share a `budget`. */
  search(text: string, budget?: RegexBudget): PyMatch | null {
    const positions = budget
      ? budget.run(this.program, text, (matcher) => matcher.search(0))
      : new Matcher(this.program, text).search(0);
    return this.wrap(text, positions);
  }

  /** `pattern.match(text)`: at the start of the text. */
  match(text: string): PyMatch | null {
    return this.wrap(text, new Matcher(this.program, text).at(0));
  }

  /** `pattern.fullmatch(text)`. */
  fullmatch(text: string): PyMatch | null {
    return this.wrap(text, new Matcher(this.program, text).at(0, true));
  }

  /** `pattern.finditer(text)`: matches from left to right that do not overlap, including empty ones. */
  *finditer(text: string): Generator<PyMatch, void> {
    const matcher = new Matcher(this.program, text);
    let from = 0;
    let mustAdvance = false;
    while (from <= text.length) {
      const positions = matcher.search(from, mustAdvance);
      if (!positions) return;
      const match = new PyMatch(text, positions, this.program.names);
      yield match;
      from = match.end;
      mustAdvance = match.end === match.start;
    }
  }

  /** `pattern.findall(text)` for patterns with at most one group: the text of the group, or of the whole match. */
  findall(text: string): string[] {
    const group = Math.min(this.groups, 1);
    return Array.from(this.finditer(text), (match) => match.group(group) ?? "");
  }

  /** `pattern.sub(replacement, text)` with a function that returns the replacement. */
  sub(text: string, replacement: (match: PyMatch) => string): string {
    let result = "";
    let from = 0;
    for (const match of this.finditer(text)) {
      result += text.slice(from, match.start) + replacement(match);
      from = match.end;
    }
    return result + text.slice(from);
  }

  private wrap(text: string, positions: number[] | undefined): PyMatch | null {
    return positions ? new PyMatch(text, positions, this.program.names) : null;
  }
}

/** Maximum number of cached patterns, as in Python. Rows of a dataset repeat their patterns. */
const maxCached = 512;
const cache = new Map<string, PyRegex>();

/**
 * Compiles a Python pattern.
 *
 * @throws {RegexSyntaxError} where Python's `re.compile` raises.
 * @example
 * compilePyRegex(String.raw`(?i)answer\s*:\s*(\w)`).search("Answer: b")?.group(1); // "b"
 */
export function compilePyRegex(pattern: string, flags: RegexFlags = {}): PyRegex {
  const { ignoreCase = false, multiline = false, dotAll = false, verbose = false, ascii = false } = flags;
  const key = `${[ignoreCase, multiline, dotAll, verbose, ascii].map(Number).join("")}${pattern}`;
  const known = cache.get(key);
  if (known) return known;
  const regex = new PyRegex(
    compileProgram(parsePattern(pattern, { ignoreCase, multiline, dotAll, verbose, ascii })),
  );
  const [oldest] = cache.keys();
  if (cache.size >= maxCached && oldest !== undefined) cache.delete(oldest);
  cache.set(key, regex);
  return regex;
}
