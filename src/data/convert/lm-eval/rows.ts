import path from "node:path";
import { errorMessage } from "../../../base/errors.ts";
import { pyStr } from "../../../base/python/door.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import { DatasetError } from "../../errors.ts";
import { type ConvertAccess, readSourceRows } from "../read-source.ts";
import { type DrawExamples, exampleSampler, makePrompt, type Prompt } from "./prompt.ts";
import { checkConvertible, ignoredCode, invalidTask, readTaskFile, type TaskKeys } from "./read-task.ts";
import { compileTask, type LmEvalTask } from "./task.ts";

export interface LmEvalOptions {
  /** A file or a `hub:` name with the documents. Default: the dataset that the task names. */
  readonly documents?: string;
  /** The same for the worked examples. Default: the split that the task names. */
  readonly examples?: string;
  /** Number of worked examples. Default: `num_fewshot` of the task. */
  readonly shots?: number;
  /** The documents already went through `process_docs`. */
  readonly processed?: boolean;
}

/** One document as a row, or why it does not fit. */
export type TaskRow = { readonly where: string } & (
  | { readonly row: JsonObject }
  | { readonly problem: string }
);

export interface ReadTask {
  readonly task: LmEvalTask;
  /** Python code of the task that changes scores and is not run. */
  readonly ignored: readonly string[];
  readonly documents: string;
  readonly examples: string | undefined;
}

/** Reads a task file and finds where its documents are. */
export async function readLmEvalTask(file: string, options: LmEvalOptions): Promise<ReadTask> {
  const keys = await readTaskFile(file);
  checkConvertible(keys, file, { isProcessed: options.processed ?? false });
  const task = compileTask(keys, file, options.shots);
  const { split } = task.examples;
  const needsExamples = task.examples.count > 0 && task.examples.samples === undefined;
  return {
    task,
    ignored: ignoredCode(keys),
    documents: options.documents ?? documentsOf(keys, task, task.split, file, "--documents"),
    examples: needsExamples
      ? (options.examples ?? documentsOf(keys, task, split, file, "--examples"))
      : undefined,
  };
}

const FILE_LOADERS = new Set(["json", "csv", "parquet"]);

/** The name of the source of one split. */
function documentsOf(
  keys: TaskKeys,
  { hub, hubConfig }: LmEvalTask,
  split: string | undefined,
  file: string,
  flag: string,
): string {
  if (hub === undefined || split === undefined || "custom_dataset" in keys)
    throw invalidTask(file, `names no documents on the hub; give them with ${flag} FILE`);
  if (!FILE_LOADERS.has(hub)) return `hub:${hub}${hubConfig === undefined ? "" : `:${hubConfig}`}@${split}`;
  const kwargs = keys["dataset_kwargs"];
  const files = isObject(kwargs) ? kwargs["data_files"] : undefined;
  const given = isObject(files) ? files[split] : files;
  if (typeof given !== "string" || given.includes("://"))
    throw invalidTask(file, `reads its documents from files that are not here; give them with ${flag} FILE`);
  return path.resolve(path.dirname(file), given);
}

/** The rows of a task, one for each document. */
export async function* taskRows(
  { task, documents, examples }: ReadTask,
  access: ConvertAccess,
): AsyncGenerator<TaskRow> {
  const draw = await sampler(task, examples, access);
  let number = 0;
  for await (const source of readSourceRows(documents, access)) {
    const { where } = source;
    if ("problem" in source) {
      yield source;
      continue;
    }
    try {
      const drawn = draw(source.row);
      yield { where, row: rowOf(task, source.row, makePrompt(task, source.row, drawn), number) };
    } catch (error) {
      yield { where, problem: errorMessage(error) };
    }
    number++;
  }
}

async function sampler(
  task: LmEvalTask,
  name: string | undefined,
  access: ConvertAccess,
): Promise<DrawExamples> {
  const pool: JsonObject[] = [];
  if (name !== undefined)
    for await (const source of readSourceRows(name, access)) if ("row" in source) pool.push(source.row);
  try {
    return exampleSampler(task.examples, pool);
  } catch (error) {
    throw new DatasetError("DATASET_LM_EVAL", `${task.name}: ${errorMessage(error)}.`);
  }
}

/** A row of the environment `loglikelihood`, or of one that reads the text of the model. */
function rowOf(task: LmEvalTask, document: JsonObject, prompt: Prompt, number: number): JsonObject {
  const { context, choices, target } = prompt;
  const text = typeof context === "string" ? context : context.join("\n");
  const shared = { task: task.name, document_index: number, metrics: [...task.metrics] };
  const input = [{ role: "user", content: text }];
  switch (task.outputType) {
    case "multiple_choice":
      return {
        responses_create_params: { input },
        output_type: "multiple_choice",
        ...choiceFields(task, prompt),
        ...shared,
        document,
      };
    case "loglikelihood":
      return {
        responses_create_params: { input },
        output_type: "loglikelihood",
        context: text,
        continuation: pyStr(target),
        ...shared,
        document,
      };
    case "loglikelihood_rolling":
      return {
        responses_create_params: { input: [{ role: "user", content: pyStr(target) }] },
        output_type: "loglikelihood_rolling",
        text: pyStr(target),
        ...shared,
        document,
      };
    case "generate_until":
      return {
        responses_create_params: { input, ...sampling(task.generation) },
        ...expected(prompt),
        ...(choices !== undefined && { choices: choices.map(pyStr) }),
        until: [task.generation["until"] ?? task.fewshotDelimiter].flat(),
        ...shared,
        document,
      };
  }
}

/** The original puts the choices after the context; where the context differs for each choice, the target. */
function choiceFields(task: LmEvalTask, { context, choices = [], target, gold }: Prompt): JsonObject {
  const texts = choices.map(pyStr);
  const right = [gold].flat().map((item) => positionOf(item, texts));
  const [first] = right;
  const perChoice = typeof context !== "string";
  return {
    ...(perChoice ? { contexts: context } : { context }),
    choices: texts,
    continuations: texts.map((text) => task.targetDelimiter + (perChoice ? pyStr(target) : text)),
    gold: Array.isArray(gold) ? right : (first ?? null),
    ...(first !== undefined && { expected_answer: texts[first] ?? "" }),
  };
}

function positionOf(gold: unknown, choices: readonly string[]): number {
  const at = typeof gold === "number" ? gold : choices.indexOf(pyStr(gold));
  if (at >= 0 && at < choices.length) return at;
  throw new Error(`the right choice ${pyStr(gold)} is none of the ${choices.length} choices`);
}

function expected({ choices, target }: Prompt): JsonObject {
  if (choices !== undefined && typeof target === "number") {
    const choice = choices.at(target);
    if (choice === undefined) throw new Error(`the right choice ${target} is none of the ${choices.length}`);
    return { expected_answer: pyStr(choice) };
  }
  if (!Array.isArray(target)) return { expected_answer: pyStr(target) };
  return { expected_answer: pyStr(target[0] ?? ""), expected_answers: target.map(pyStr) };
}

/** `do_sample: false` is greedy decoding, whatever the temperature. */
function sampling({ temperature, do_sample: samples, max_gen_toks: most }: JsonObject): JsonObject {
  const isGreedy = samples === false || samples === undefined;
  return {
    temperature: isGreedy ? 0 : temperature === undefined ? 1 : Number(temperature),
    ...(most !== undefined && { max_output_tokens: Number(most) }),
  };
}
