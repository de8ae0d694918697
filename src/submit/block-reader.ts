import { formatPosition } from "../config/errors.ts";
import { formatPath, type KeyPath } from "../config/key-path.ts";
import { type ConfigNode, type DictNode, positionOf } from "../config/node.ts";
import { integerFrom } from "../config/schema-problems.ts";
import { getCloseMatches } from "../python/difflib.ts";
import { pyStr } from "../python/repr.ts";
import { SubmitError } from "./errors.ts";

/** Everything wrong with one file; reported together, each with its place. */
export class Problems {
  readonly #found: string[] = [];
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Notes a problem with the value at `path`; without a node the key is missing and `near` is the block it belongs to. */
  add(path: KeyPath, message: string, near: ConfigNode | undefined): void {
    const position = positionOf(near);
    const fromFile = near?.origin.source.kind === "file" && position !== undefined;
    const place = fromFile
      ? formatPosition(position)
      : `command line (${near?.origin.source.name ?? this.#file})`;
    this.#found.push(`${place}: ${path.length === 0 ? "" : `${formatPath(path)}: `}${message}`);
  }

  get found(): boolean {
    return this.#found.length > 0;
  }

  throwIfAny(): void {
    if (this.#found.length === 0) return;
    const count = this.#found.length === 1 ? "a problem" : `${this.#found.length} problems`;
    throw new SubmitError(
      "SUBMIT_CONFIG",
      `${count} in '${this.#file}':\n${this.#found.map((line) => `  ${line}`).join("\n")}`,
    );
  }
}

export interface TextRule {
  readonly default?: string;
  readonly required?: boolean;
  /** What the text must look like, and how to say so. */
  readonly pattern?: readonly [pattern: RegExp, what: string];
}

/** No line breaks or other control characters: such a text can go into a line of a script. */
export const ONE_LINE = [/^[^\p{Cc}]+$/u, "a text of one line"] as const;

/** Reads one mapping strictly: every key it is asked for is known, all others are mistakes. */
export class BlockReader {
  readonly node: DictNode;
  readonly path: KeyPath;
  readonly #problems: Problems;
  readonly #known = new Set<string>();

  constructor(node: DictNode, path: KeyPath, problems: Problems) {
    this.node = node;
    this.path = path;
    this.#problems = problems;
  }

  /** The raw value, undefined when absent or null. */
  get(key: string): ConfigNode | undefined {
    this.#known.add(key);
    const node = this.node.entries.get(key);
    return node?.kind === "scalar" && node.value === null ? undefined : node;
  }

  text(key: string, rule: TextRule & ({ required: true } | { default: string })): string;
  text(key: string, rule?: TextRule): string | undefined;
  text(key: string, rule: TextRule = {}): string | undefined {
    const node = this.get(key);
    const absent = rule.default ?? (rule.required ? "" : undefined);
    if (node === undefined) {
      if (rule.required) this.problem(undefined, `${key} is missing`);
      return absent;
    }
    if (node.kind !== "scalar" || typeof node.value !== "string") {
      this.problem(key, node.kind === "scalar" ? "must be a text; put it in quotes" : "must be a text");
      return absent;
    }
    const [pattern, what] = rule.pattern ?? ONE_LINE;
    if (!pattern.test(node.value)) this.problem(key, `must be ${what}`);
    return node.value;
  }

  integer(key: string, rule: { default: number; minimum: number; maximum?: number }): number;
  integer(key: string, rule: { minimum: number; maximum?: number }): number | undefined;
  integer(key: string, rule: { default?: number; minimum: number; maximum?: number }): number | undefined {
    const node = this.get(key);
    if (node === undefined) return rule.default;
    const value = typeof (node.kind === "scalar" && node.value) === "boolean" ? undefined : integerFrom(node);
    const maximum = rule.maximum ?? Number.MAX_SAFE_INTEGER;
    if (value !== undefined && value >= rule.minimum && value <= maximum) return value;
    const range =
      rule.maximum === undefined ? `of at least ${rule.minimum}` : `from ${rule.minimum} to ${maximum}`;
    this.problem(key, `must be a whole number ${range}`);
    return rule.default;
  }

  boolean(key: string, absent: boolean): boolean {
    const node = this.get(key);
    if (node === undefined) return absent;
    const value = node.kind === "scalar" ? String(node.value).toLowerCase() : "";
    if (value !== "true" && value !== "false") this.problem(key, "must be true or false");
    return value === "true";
  }

  /** A word out of a few; the nearest is offered for others. */
  choice<const T extends string>(key: string, choices: readonly T[]): T | undefined {
    const value = this.text(key, { required: true });
    const found = choices.find((choice) => choice === value);
    if (found === undefined && this.get(key) !== undefined) {
      this.problem(key, `'${value}' is not one of ${choices.join(", ")}${nearest(value, choices)}`);
    }
    return found;
  }

  /** Texts by name; numbers are taken as they are written. */
  texts(key: string, namePattern: readonly [RegExp, string]): Map<string, string> {
    const result = new Map<string, string>();
    for (const [name, node] of this.#members(key)) {
      if (!namePattern[0].test(name)) this.problem([key, name], `must be ${namePattern[1]}`);
      const value = node.kind === "scalar" ? node.value : true;
      if (value === null || typeof value === "boolean")
        this.problem([key, name], "must be a text; put it in quotes");
      else result.set(name, typeof value === "string" ? value : pyStr(value));
    }
    return result;
  }

  textList(key: string, pattern: readonly [RegExp, string]): string[] {
    const node = this.get(key);
    if (node === undefined) return [];
    if (node.kind !== "list") {
      this.problem(key, "must be a list of texts");
      return [];
    }
    return node.items.flatMap((item, index) => {
      if (item.kind === "scalar" && typeof item.value === "string" && pattern[0].test(item.value))
        return item.value;
      this.problem([key, index], `must be ${pattern[1]}`);
      return [];
    });
  }

  /** A mapping with values of any kind. */
  dict(key: string): DictNode | undefined {
    const node = this.get(key);
    if (node === undefined || node.kind === "dict") return node;
    this.problem(key, "must be a mapping");
    return undefined;
  }

  /** A mapping with a fixed set of keys. */
  block(key: string, need: "required" | "optional" = "optional"): BlockReader | undefined {
    const node = this.dict(key);
    if (node) return new BlockReader(node, [...this.path, key], this.#problems);
    if (need === "required" && this.get(key) === undefined) this.problem(undefined, `${key} is missing`);
    return undefined;
  }

  /** Such mappings by name. */
  blocks(key: string): [string, BlockReader][] {
    return this.#members(key).flatMap(([name, node]): [string, BlockReader][] => {
      const path = [...this.path, key, name];
      const empty = node.kind === "scalar" && node.value === null;
      if (node.kind === "dict") return [[name, new BlockReader(node, path, this.#problems)]];
      if (empty)
        return [
          [
            name,
            new BlockReader({ kind: "dict", entries: new Map(), origin: node.origin }, path, this.#problems),
          ],
        ];
      this.problem([key, name], "must be a mapping");
      return [];
    });
  }

  /** Reports unknown keys. */
  finish(): void {
    for (const [key, node] of this.node.entries) {
      const name = String(key);
      if (this.#known.has(name)) continue;
      const known = [...this.#known];
      this.#problems.add(
        this.path,
        `unknown key '${name}'${nearest(name, known) || `. Known: ${known.join(", ")}.`}`,
        node,
      );
    }
  }

  /** Notes a problem with a member, or with the block itself. */
  problem(where: string | KeyPath | undefined, message: string): void {
    const below = where === undefined ? [] : typeof where === "string" ? [where] : where;
    let node: ConfigNode = this.node;
    for (const segment of below) {
      const next: ConfigNode | undefined =
        node.kind === "dict"
          ? node.entries.get(segment)
          : node.kind === "list"
            ? node.items[Number(segment)]
            : undefined;
      node = next ?? node;
    }
    this.#problems.add([...this.path, ...below], message, node);
  }

  #members(key: string): [string, ConfigNode][] {
    return [...(this.dict(key)?.entries ?? [])].map(([name, node]) => [String(name), node]);
  }
}

/** ` Did you mean 'x'?`, or nothing. */
export function nearest(word: string, candidates: readonly string[]): string {
  const [close] = getCloseMatches(word, candidates, 1);
  return close === undefined ? "" : `. Did you mean '${close}'?`;
}
