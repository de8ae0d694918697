import { similarityRatio } from "nemo-gym/python";
import { type Category, categoryOf } from "./categories.ts";

export interface Call {
  name: string;
  /** Arguments that are not objects count as empty. */
  args: Readonly<Record<string, unknown>>;
}

const LONGEST_COMPARED = 2000;
const LEAST_RANGE = 0.8;
const LEAST_BASH = 0.3;
const FILE_KEYS = ["path", "file", "file_path", "filename", "file_name"];
const PATHS = /[\w.~-]*\/[\w./-]*[\w-]/g;

/** Whether two calls use the same tool, or tools for the same purpose. */
export function sameTool(rollout: Call, expected: Call): boolean {
  if (rollout.name.toLowerCase() === expected.name.toLowerCase()) return true;
  const category = categoryOf(expected.name);
  return category !== undefined && categoryOf(rollout.name) === category;
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
  if (category === "bash") {
    const [given, wanted] = [commandOf(rollout), commandOf(expected)];
    return given === "" || wanted === "" ? 1 : ratio(given, wanted);
  }
  if (category !== "edit") return 1;
  if (hasReplacement(rollout) && hasReplacement(expected))
    return Math.min(
      textSimilarity(text(rollout.args["old_str"]), text(expected.args["old_str"])),
      textSimilarity(text(rollout.args["new_str"]), text(expected.args["new_str"])),
    );
  return textSimilarity(editText(rollout), editText(expected));
}

/** The text that an edit writes; empty for other calls. */
export function editText(call: Call): string {
  if (categoryOf(call.name) !== "edit") return "";
  const { args } = call;
  if (hasReplacement(call)) return `${text(args["old_str"])}\n${text(args["new_str"])}`;
  return (
    ["patch", "diff", "content", "file_text"].map((key) => text(args[key])).find((value) => value !== "") ??
    ""
  );
}

function commonCategory(rollout: Call, expected: Call): Category | undefined {
  const category = categoryOf(expected.name);
  return categoryOf(rollout.name) === category ? category : undefined;
}

function sameEdit(rollout: Call, expected: Call): boolean {
  const [given, wanted] = [text(rollout.args["command"]), text(expected.args["command"])];
  if (given !== "" && wanted !== "" && given !== wanted) return false;
  if (!samePath(fileOf(rollout), fileOf(expected), 2)) return false;
  if (given !== "view" || wanted !== "view") return true;
  return sameRange(rangeOf(rollout), rangeOf(expected));
}

function sameRange(given: Range | undefined, wanted: Range | undefined): boolean {
  if (given === undefined || wanted === undefined) return true;
  const overlap = Math.min(given[1], wanted[1]) - Math.max(given[0], wanted[0]);
  return Math.max(overlap, 0) / Math.max(wanted[1] - wanted[0], 1) >= LEAST_RANGE;
}

type Range = readonly [number, number];

function rangeOf({ args }: Call): Range | undefined {
  const range = args["view_range"];
  if (!Array.isArray(range) || range.length !== 2) return undefined;
  const [from, to] = range;
  return typeof from === "number" && typeof to === "number" ? [from, to] : undefined;
}

function sameProgram(given: string, wanted: string): boolean {
  if (given === "" || wanted === "") return true;
  if (programOf(given) !== programOf(wanted)) return false;
  const [paths, wantedPaths] = [suffixes(given), suffixes(wanted)];
  if (paths.size > 0 && wantedPaths.size > 0 && ![...paths].some((path) => wantedPaths.has(path)))
    return false;
  return ratio(given, wanted) >= LEAST_BASH;
}

function programOf(command: string): string {
  return command.trim().split(/\s+/)[0]?.split("/").at(-1) ?? "";
}

function suffixes(command: string): Set<string> {
  return new Set((command.match(PATHS) ?? []).map((path) => lastParts(path, 3)));
}

function samePath(given: string, wanted: string, parts: number): boolean {
  return given === "" || wanted === "" || lastParts(given, parts) === lastParts(wanted, parts);
}

function lastParts(path: string, count: number): string {
  return path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .slice(-count)
    .join("/");
}

function hasReplacement({ args }: Call): boolean {
  return "old_str" in args || "new_str" in args;
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

function fileOf({ args }: Call): string {
  return FILE_KEYS.map((key) => text(args[key])).find((value) => value !== "") ?? "";
}

function commandOf({ args }: Call): string {
  return text(args["command"]) || text(args["cmd"]);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
