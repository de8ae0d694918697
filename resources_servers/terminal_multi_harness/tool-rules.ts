import type { JsonObject } from "nemo-gym";
import { dumps, isObject, isTruthy, pyEquals, strip } from "nemo-gym/python";
import { boundedSimilarity } from "../../libraries/text-measures/similarity.ts";
import { CATEGORIES, type Category } from "./categories.ts";

/** `similarity` is null where no texts were compared. */
export interface Comparison {
  category: Category;
  similarity: number | null;
}

type Rule = (actual: JsonObject, expected: JsonObject, threshold: number) => Comparison;

const result = (category: Category, similarity: number | null = null): Comparison => ({
  category,
  similarity,
});
const MATCH = result(CATEGORIES.expectedToolCall);
const MISMATCH = result(CATEGORIES.argumentValueMismatch);

/** How the call of a tool in a harness is compared. A tool without a rule needs the right name and keys only. */
export const RULES: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  codex: {
    exec_command: similarTexts({
      key: "cmd",
      missing: CATEGORIES.execCommandMissingCmd,
      below: CATEGORIES.execCommandCmdSimilarityBelowThreshold,
      normalize: commandText,
    }),
    update_plan: ({ plan }) => (isTruthy(plan ?? null) ? MATCH : result(CATEGORIES.updatePlanEmptyPlan)),
  },
  agent006: {
    execute_python: similarTexts({
      key: "code",
      missing: CATEGORIES.argumentValueMismatch,
      below: CATEGORIES.executePythonCodeSimilarityBelowThreshold,
      isMissing: (code) => strip(code) === "",
    }),
    return_result: (actual, expected, threshold) =>
      compareTexts(
        dumps(expected["result"] ?? null, { sortKeys: true }),
        dumps(actual["result"] ?? null, { sortKeys: true }),
        threshold,
        CATEGORIES.returnResultSimilarityBelowThreshold,
      ),
  },
  opencode: {
    bash: similarTexts({
      key: "command",
      missing: CATEGORIES.bashMissingCommand,
      below: CATEGORIES.bashCommandSimilarityBelowThreshold,
      normalize: commandText,
    }),
    todowrite: sameTodos,
    read: sameValues("filePath"),
    write: sameValues("filePath"),
    edit: (actual, expected, threshold) =>
      pyEquals(actual["oldString"] ?? null, actual["newString"] ?? null)
        ? MISMATCH
        : sameValues("filePath", "replaceAll")(actual, expected, threshold),
    glob: sameValues("pattern", "path"),
    grep: sameValues("pattern", "path", "include"),
    webfetch: sameValues("url", "format"),
    skill: sameValues("name"),
    task: sameValues("subagent_type"),
  },
  stirrup: {
    code_exec: similarTexts({
      key: "cmd",
      missing: CATEGORIES.execCommandMissingCmd,
      below: CATEGORIES.execCommandCmdSimilarityBelowThreshold,
      normalize: commandText,
    }),
    web_search: similarTexts({
      key: "query",
      missing: CATEGORIES.webSearchMissingQuery,
      below: CATEGORIES.webSearchQuerySimilarityBelowThreshold,
      normalize: webText,
      isMissing: (query) => query === "",
    }),
    fetch_web_page: ({ url: actual }, { url: expected }) => {
      if (!isFilledText(actual) || !isFilledText(expected)) return result(CATEGORIES.fetchWebPageMissingUrl);
      return webText(actual) === webText(expected) ? MATCH : result(CATEGORIES.fetchWebPageUrlsDoNotMatch);
    },
    finish: sameEnd,
  },
};

function similarTexts(rule: {
  key: string;
  missing: Category;
  below: Category;
  normalize?(text: string): string;
  isMissing?(text: string): boolean;
}): Rule {
  const { normalize = (text) => text, isMissing = () => false } = rule;
  return (actual, expected, threshold) => {
    const [given, wanted] = [actual[rule.key], expected[rule.key]];
    if (typeof given !== "string" || typeof wanted !== "string") return result(rule.missing);
    if (isMissing(given) || isMissing(wanted)) return result(rule.missing);
    return compareTexts(normalize(wanted), normalize(given), threshold, rule.below);
  };
}

/** A comparison that takes too long is one with a text that is much longer than the expert's. */
function compareTexts(first: string, second: string, threshold: number, below: Category): Comparison {
  const similarity = boundedSimilarity(first, second) ?? 0;
  return result(similarity < threshold ? below : CATEGORIES.expectedToolCall, similarity);
}

function sameValues(...keys: string[]): Rule {
  return (actual, expected) =>
    keys.every((key) => pyEquals(actual[key] ?? null, expected[key] ?? null)) ? MATCH : MISMATCH;
}

function sameTodos({ todos: actual }: JsonObject, { todos: expected }: JsonObject): Comparison {
  const isEmpty = (todos: unknown) => Array.isArray(todos) && todos.length === 0;
  if (isEmpty(expected)) return isEmpty(actual) ? MATCH : MISMATCH;
  if (!Array.isArray(expected) || !Array.isArray(actual)) return result(CATEGORIES.todowriteEmptyTodos);
  const isSame = (given: unknown, wanted: unknown) =>
    isObject(given) &&
    isObject(wanted) &&
    ["status", "priority"].every((key) => pyEquals(given[key] ?? null, wanted[key] ?? null));
  const areSame =
    actual.length === expected.length && actual.every((todo, index) => isSame(todo, expected[index]));
  return areSame ? MATCH : MISMATCH;
}

function sameEnd(actual: JsonObject, expected: JsonObject, threshold: number): Comparison {
  const { reason, paths } = actual;
  const { reason: wantedReason, paths: wantedPaths } = expected;
  if (!isFilledText(reason) || !isFilledText(wantedReason)) return result(CATEGORIES.finishMissingReason);
  if (!isListOfTexts(paths) || !isListOfTexts(wantedPaths)) return result(CATEGORIES.finishMissingPaths);
  const sorted = (list: readonly string[]) => list.map((path) => strip(path)).sort();
  if (!pyEquals(sorted(paths), sorted(wantedPaths))) return result(CATEGORIES.finishPathsDoNotMatch);
  const below = CATEGORIES.finishReasonSimilarityBelowThreshold;
  return compareTexts(webText(reason), webText(wantedReason), threshold, below);
}

function isFilledText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
}

function commandText(text: string): string {
  return strip(text.replace(/\r\n?/g, "\n"));
}

function webText(text: string): string {
  return strip(text.toLowerCase());
}
