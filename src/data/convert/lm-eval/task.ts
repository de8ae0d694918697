import { errorMessage } from "../../../base/errors.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import { compileTemplate } from "../../prepare/expression.ts";
import { readPythonLiteral } from "../../prepare/python-literals.ts";
import { functionName, invalidTask, type OutputType, type TaskKeys } from "./read-task.ts";

/** A part of a prompt for one document. */
type Part = (document: JsonObject) => unknown;

/** The parts of a prompt: those of the task, or those of its examples. */
export interface Parts {
  readonly text: Part;
  readonly target: Part;
  readonly choices: ((document: JsonObject) => unknown[]) | undefined;
  readonly prefix: Part | undefined;
  readonly targetDelimiter: string;
  readonly fewshotDelimiter: string;
}

/** Where the worked examples of a prompt come from. */
export interface Examples extends Parts {
  readonly count: number;
  readonly split: string | undefined;
  /** Whether the document itself may be among them and is left out. */
  readonly excludesDocument: boolean;
  readonly sampler: string;
  readonly samples: readonly JsonObject[] | undefined;
  readonly indices: readonly number[] | undefined;
}

/** A task of lm-evaluation-harness. */
export interface LmEvalTask extends Parts {
  readonly name: string;
  readonly outputType: OutputType;
  readonly description: Part | undefined;
  readonly examples: Examples;
  readonly hub: string | undefined;
  readonly hubConfig: string | undefined;
  /** The split of the documents. */
  readonly split: string | undefined;
  readonly metrics: readonly string[];
  readonly generation: JsonObject;
}

/** Compiles the keys of a task file. `shots` replaces `num_fewshot`. */
export function compileTask(keys: TaskKeys, file: string, shots?: number): LmEvalTask {
  const { num_fewshot: given, description, metric_list: metrics, generation_kwargs: generation } = keys;
  const type = (keys["output_type"] ?? "generate_until") as OutputType;
  const count = shots ?? (typeof given === "number" ? given : 0);
  const own = partsOf(keys, file);
  const test = textOf(keys["test_split"]);
  return {
    ...own,
    name: textOf(keys["task"]) ?? file,
    outputType: type,
    description: description ? partOf(description, "description", file).value : undefined,
    examples: examplesOf(keys, file, count, own),
    hub: textOf(keys["dataset_path"]),
    hubConfig: textOf(keys["dataset_name"]),
    split: test ?? textOf(keys["validation_split"]),
    metrics: metricsOf(metrics, type),
    generation: isObject(generation) ? generation : {},
  };
}

function examplesOf(keys: TaskKeys, file: string, count: number, own: Parts): Examples {
  const config = isObject(keys["fewshot_config"]) ? keys["fewshot_config"] : {};
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
  const { samples, sampler = "default", fewshot_indices: indices } = given;
  const code = Object.entries(given).find(([, value]) => functionName(value) !== undefined);
  if (count > 0 && code !== undefined)
    throw invalidTask(
      file,
      `makes its examples by Python code (fewshot_config.${code[0]}: ${functionName(code[1])}), which is not run; convert it with --num-fewshot 0`,
    );
  const [test, validation, training] = ["test_split", "validation_split", "training_split"].map((name) =>
    textOf(keys[name]),
  );
  const split = textOf(given["split"]) ?? textOf(keys["fewshot_split"]);
  const list = Array.isArray(samples) && split === undefined ? (samples as JsonObject[]) : undefined;
  return {
    ...(count > 0 ? partsOf({ ...keys, ...given }, file) : own),
    count,
    split: split ?? (list === undefined ? (training ?? validation ?? test) : undefined),
    excludesDocument: split === test,
    sampler: String(sampler),
    samples: list,
    indices: Array.isArray(indices) ? (indices as number[]) : undefined,
  };
}

function partsOf(keys: TaskKeys, file: string): Parts {
  const { doc_to_choice: choice, gen_prefix: prefix } = keys;
  const { target_delimiter: targetDelimiter, fewshot_delimiter: fewshotDelimiter } = keys;
  const hasChoices = choice !== undefined && choice !== null;
  const text = partOf(keys["doc_to_text"] ?? "", "doc_to_text", file);
  const target = partOf(keys["doc_to_target"] ?? "", "doc_to_target", file);
  return {
    text: (document) => numbered(text, document, hasChoices),
    target: (document) => {
      const value = numbered(target, document, hasChoices);
      const isList =
        target.isTemplate(document) &&
        typeof value === "string" &&
        value.startsWith("[") &&
        value.endsWith("]");
      return isList ? (readPythonLiteral(value) ?? value) : value;
    },
    choices: hasChoices ? choicesOf(choice, file) : undefined,
    prefix: prefix === undefined || prefix === null ? undefined : partOf(prefix, "gen_prefix", file).value,
    targetDelimiter: typeof targetDelimiter === "string" ? targetDelimiter : " ",
    fewshotDelimiter: typeof fewshotDelimiter === "string" ? fewshotDelimiter : "\n\n",
  };
}

/** The functions that Jinja has by itself. */
const FUNCTIONS = {
  range: (start: unknown, stop: unknown) => {
    const [from, to] = stop === undefined ? [0, Number(start)] : [Number(start), Number(stop)];
    return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
  },
};

interface CompiledPart {
  readonly value: Part;
  readonly isTemplate: (document: JsonObject) => boolean;
}

/** A text is the name of a field where the document has it, else a template; other values stand for themselves. */
function partOf(given: unknown, key: string, file: string): CompiledPart {
  if (typeof given !== "string") return { value: () => given, isTemplate: () => false };
  let render: (document: JsonObject) => string;
  try {
    render = compileTemplate(given, FUNCTIONS, { keepsBlanks: true });
  } catch (error) {
    throw invalidTask(file, `has a ${key} that is not a supported template: ${errorMessage(error)}`);
  }
  const isField = (document: JsonObject) => Object.hasOwn(document, given);
  return {
    value: (document) => (isField(document) ? document[given] : render(document)),
    isTemplate: (document) => !isField(document),
  };
}

/** Digits of a template are a number where the task has choices. */
function numbered({ value, isTemplate }: CompiledPart, document: JsonObject, hasChoices: boolean): unknown {
  const found = value(document);
  if (!hasChoices) return found;
  if (!isTemplate(document)) return typeof found === "boolean" ? Number(found) : found;
  return typeof found === "string" && /^\d+$/.test(found) ? Number(found) : found;
}

function choicesOf(given: unknown, file: string): (document: JsonObject) => unknown[] {
  if (isObject(given)) return () => Object.values(given);
  const { value, isTemplate } = partOf(given, "doc_to_choice", file);
  return (document) => {
    const found = value(document);
    const list = isTemplate(document) && typeof found === "string" ? readPythonLiteral(found) : found;
    if (!Array.isArray(list)) throw new Error("doc_to_choice gives no list");
    return list;
  };
}

const DEFAULT_METRICS: Readonly<Record<OutputType, readonly string[]>> = {
  multiple_choice: ["acc", "acc_norm"],
  loglikelihood: ["perplexity", "acc"],
  loglikelihood_rolling: ["word_perplexity", "byte_perplexity", "bits_per_byte"],
  generate_until: ["exact_match"],
};

function metricsOf(list: unknown, type: OutputType): readonly string[] {
  if (!Array.isArray(list)) return DEFAULT_METRICS[type];
  return list.map((entry) => String(isObject(entry) ? entry["metric"] : entry));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
