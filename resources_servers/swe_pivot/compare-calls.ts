import { isObject, loadsPlain, pyStr, similarityRatio, splitWords, strip, toPyInt } from "nemo-gym/python";
import { type Category, categoryOf } from "./categories.ts";

export interface Call {
  name: string;
  args: Readonly<Record<string, unknown>>;
}

const LONGEST_COMPARED = 2000;
const LEAST_RANGE = 0.8;
const LEAST_BASH = 0.3;
const COMMAND_KEYS = ["command", "cmd"];
const FILE_KEYS = ["path", "file", "file_path", "filename", "file_name"];
/** Paths of a command: absolute, below `.` or `..`, or with a directory. They begin a word or follow `=`, a quote or `(`. */
const PATHS =
  /(?<=^|[\s='"(])(?:(?:\/[\p{L}\p{N}_.-]+)+|\.{1,2}\/[\p{L}\p{N}_./-]+|[\p{L}\p{N}_.-]+\/[\p{L}\p{N}_./-]+)/gu;

/** Whether two calls use the same tool, or tools for the same purpose. */
export function sameTool(rollout: Call, expected: Call): boolean {
  if (rollout.name.toLowerCase() === expected.name.toLowerCase()) return true;
  const category = categoryOf(expected.name);
  return category !== undefined && categoryOf(rollout.name) === category;
}

/** Whether arguments have a form in which a tool like this one can be compared. A list without the names of arguments is empty. */
export function canRead({ name }: Call, args: unknown): boolean {
  const category = categoryOf(name);
  if (isObject(args) || !["edit", "bash", "search", "read"].includes(category ?? "")) return true;
  const keys = category === "bash" ? COMMAND_KEYS : FILE_KEYS;
  return category !== "edit" && Array.isArray(args) && !keys.some((key) => args.includes(key));
}

/** Whether two calls of the same tool have the same target: file, part of a file, program. */
export function sameTarget(rollout: Call, expected: Call): boolean {
  switch (commonCategory(rollout, expected)) {
    case "edit":
      return sameEdit(rollout, expected);
    case "bash":
      return sameProgram(commandOf(rollout), commandOf(expected));
    case "search":
    case "read":
      return samePath(fileOf(rollout), fileOf(expected), 3);
    default:
      return true;
  }
}

/** The similarity of the contents of two calls, from 0 to 1. */
export function similarity(rollout: Call, expected: Call): number {
  const category = commonCategory(rollout, expected);
  if (category === "bash") return textSimilarity(commandOf(rollout), commandOf(expected));
  if (category !== "edit") return 1;
  const [given, wanted] = [replacementOf(rollout), replacementOf(expected)];
  if (isEmpty(given) || isEmpty(wanted)) return textSimilarity(editText(rollout), editText(expected));
  return Math.min(textSimilarity(given.old, wanted.old), textSimilarity(given.new, wanted.new));
}

/** The text that an edit writes; empty for other calls. */
export function editText(call: Call): string {
  if (categoryOf(call.name) !== "edit") return "";
  if ("new_str" in call.args) {
    const { old, new: written } = replacementOf(call);
    return `${old}\n${written}`;
  }
  return firstText(call, ["patch", "diff", "content", "file_text"]);
}

function commonCategory(rollout: Call, expected: Call): Category | undefined {
  const category = categoryOf(expected.name);
  return categoryOf(rollout.name) === category ? category : undefined;
}

function sameEdit(rollout: Call, expected: Call): boolean {
  const [given, wanted] = [firstText(rollout, ["command"]), firstText(expected, ["command"])];
  if (given !== wanted) return false;
  if (!samePath(fileOf(rollout), fileOf(expected), 2)) return false;
  if (given !== "view") return true;
  return sameRange(rangeOf(rollout), rangeOf(expected));
}

function sameRange(given: Range | undefined, wanted: Range | undefined): boolean {
  if (given === undefined || wanted === undefined) return true;
  const overlap = Math.min(given[1], wanted[1]) - Math.max(given[0], wanted[0]);
  return Math.max(overlap, 0) / Math.max(wanted[1] - wanted[0], 1) >= LEAST_RANGE;
}

type Range = readonly [number, number];

function rangeOf({ args }: Call): Range | undefined {
  const [from, to, ...more] = listOf(args["view_range"]).map(wholeNumber);
  return from === undefined || to === undefined || more.length > 0 ? undefined : [from, to];
}

/** A list, or the list in a JSON text. */
function listOf(value: unknown): unknown[] {
  if (typeof value === "string") {
    try {
      return listOf(loadsPlain(value));
    } catch {
      // The model did not write JSON, so the call names no lines.
      return [];
    }
  }
  return Array.isArray(value) ? value : [];
}

function wholeNumber(value: unknown): number | undefined {
  const number = toPyInt(value);
  return number === undefined ? undefined : Number(number);
}

function sameProgram(given: string, wanted: string): boolean {
  if (given === "" || wanted === "") return given === wanted;
  if (programOf(given) !== programOf(wanted)) return false;
  const [paths, wantedPaths] = [suffixes(given), suffixes(wanted)];
  if (paths.size > 0 && wantedPaths.size > 0 && ![...paths].some((path) => wantedPaths.has(path)))
    return false;
  return ratio(given, wanted) >= LEAST_BASH;
}

function programOf(command: string): string {
  return splitWords(command)[0]?.split("/").at(-1) ?? "";
}

function suffixes(command: string): Set<string> {
  const paths = (command.match(PATHS) ?? []).filter((path) => path.length > 2 && !path.startsWith("--"));
  return new Set(paths.map((path) => lastParts(path, 3)).filter((path) => path !== ""));
}

function samePath(given: string, wanted: string, parts: number): boolean {
  return given === "" || wanted === "" || lastParts(given, parts) === lastParts(wanted, parts);
}

function lastParts(path: string, count: number): string {
  return strip(path, "/").split("/").slice(-count).join("/");
}

interface Replacement {
  old: string;
  new: string;
}

function replacementOf(call: Call): Replacement {
  return { old: firstText(call, ["old_str"]), new: firstText(call, ["new_str"]) };
}

function isEmpty(replacement: Replacement): boolean {
  return replacement.old === "" && replacement.new === "";
}

function textSimilarity(given: string, wanted: string): number {
  if (given === "" || wanted === "") return given === wanted ? 1 : 0;
  return ratio(given, wanted);
}

function ratio(given: string, wanted: string): number {
  return similarityRatio(cut(given), cut(wanted));
}

function cut(value: string): string {
  return value.length <= LONGEST_COMPARED ? value : Array.from(value).slice(0, LONGEST_COMPARED).join("");
}

function fileOf(call: Call): string {
  return strip(firstText(call, FILE_KEYS));
}

function commandOf(call: Call): string {
  return strip(firstText(call, COMMAND_KEYS));
}

/** The value of the first key that the call has, as Python's `str` writes it: a path `5` is a path, and not the absence of one. */
function firstText({ args }: Call, keys: readonly string[]): string {
  const key = keys.find((each) => each in args);
  return key === undefined ? "" : pyStr(args[key]);
}
