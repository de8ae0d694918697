import { pyEquals, pyTypeName } from "../../../base/python/door.ts";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { PyRandom } from "../../../base/python/numbers/door.ts";
import type { Examples, LmEvalTask, Parts } from "./task.ts";

/** The seed with which lm-evaluation-harness draws examples unless told otherwise. */
const EXAMPLE_SEED = 1234;

/** Draws the worked examples of one document after another, as the original does. */
export type DrawExamples = (document: JsonObject) => readonly JsonObject[];

/** `pool` holds the documents of the split of the examples. */
export function exampleSampler(
  { count, sampler, indices, samples, excludesDocument }: Examples,
  pool: readonly JsonObject[],
): DrawExamples {
  if (count === 0) return () => [];
  const all: readonly JsonObject[] = samples ?? pool;
  const usable =
    indices === undefined ? all : indices.map((index) => all[index]).filter((found) => found !== undefined);
  const others = (document: JsonObject, from: readonly JsonObject[]) =>
    excludesDocument ? from.filter((example) => !pyEquals(example, document)) : from;
  const needed = count + (excludesDocument && sampler !== "first_n" ? 1 : 0);
  if (usable.length < needed)
    throw new Error(`${needed} examples are needed, but the split of the examples has ${usable.length}`);
  if (sampler === "first_n") return (document) => others(document, usable).slice(0, count);
  if (sampler !== "default") throw new Error(`the sampler '${sampler}' is not supported (default, first_n)`);
  const random = new PyRandom(EXAMPLE_SEED);
  return (document) => {
    const drawn = others(document, random.sample(usable, needed)).slice(0, count);
    return drawn.length === count ? drawn : random.sample(others(document, usable), count);
  };
}

/** What a model is asked about one document. */
export interface Prompt {
  /** One text; one for each choice where the choices are part of the question. */
  readonly context: string | readonly string[];
  readonly choices: readonly unknown[] | undefined;
  readonly target: unknown;
  /** The right choice as the task gives it: a number, a text or a list of them. */
  readonly gold: unknown;
}

/** The prompt of one document with its worked examples. */
export function makePrompt(task: LmEvalTask, document: JsonObject, examples: readonly JsonObject[]): Prompt {
  const description = task.description?.(document) ?? "";
  const shown = examples.map((example) => exampleTurn(task, example)).join("");
  const before = `${String(description)}${shown}`;
  const text = task.text(document);
  const choices = task.choices?.(document);
  const prefix = task.prefix?.(document);
  const target = task.target(document);
  const rest = { prefix: prefix === undefined || prefix === "" ? undefined : String(prefix) };
  if (typeof text === "number" && choices !== undefined) {
    const contexts = choices.map((choice) => before + turn({ text: choice, delimiter: "", ...rest }));
    return { context: contexts, choices, target, gold: text };
  }
  const context = before + turn({ text, delimiter: task.targetDelimiter, ...rest });
  return { context, choices, target, gold: target };
}

function exampleTurn({ examples }: LmEvalTask, example: JsonObject): string {
  const { targetDelimiter: delimiter, fewshotDelimiter } = examples as Parts;
  const found = examples.text(example);
  const choices = examples.choices?.(example);
  const target = examples.target(example);
  const isPerChoice = typeof found === "number" && choices !== undefined;
  const text = isPerChoice ? choices.at(found) : found;
  const prefix = examples.prefix?.(example);
  const answer =
    choices !== undefined && !isPerChoice && typeof target === "number"
      ? choices.at(target)
      : Array.isArray(target)
        ? target[0]
        : target;
  return turn({
    text,
    delimiter,
    prefix: prefix === undefined || prefix === "" ? undefined : String(prefix),
    answer,
    end: fewshotDelimiter,
  });
}

interface Turn {
  readonly text: unknown;
  readonly delimiter: string;
  readonly prefix: string | undefined;
  readonly answer?: unknown;
  readonly end?: string;
}

function turn({ text, delimiter, prefix, answer, end = "" }: Turn): string {
  if (typeof text !== "string") throw new Error(`doc_to_text gives ${pyTypeName(text)}, not a text`);
  const between = prefix === undefined ? delimiter : needsBlank(text, prefix) ? delimiter : "";
  if (answer === undefined || answer === null || answer === "")
    return prefix === undefined ? text : text + between + prefix;
  if (typeof answer !== "string") throw new Error(`doc_to_target gives ${pyTypeName(answer)}, not a text`);
  return text + between + joined(prefix, answer) + end;
}

function needsBlank(before: string, after: string): boolean {
  return before !== "" && !/\s$/u.test(before) && !/^\s/u.test(after);
}

function joined(prefix: string | undefined, answer: string): string {
  if (prefix === undefined) return answer;
  return needsBlank(prefix, answer) ? `${prefix} ${answer}` : prefix + answer;
}
