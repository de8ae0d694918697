import { stringRepr } from "../../base/python/door.ts";
import { orderedKeys } from "../../base/python/json/door.ts";
import { isPyFloat, PyFloat } from "../../base/python/numbers/door.ts";
import { DatasetError } from "../errors.ts";
import { DistinctCounter } from "./distinct-counter.ts";
import { NumericStatistic, type NumericSummary } from "./numeric-statistic.ts";

/** Row fields must not have these names. Upstream uses them for built-in statistics and internal state. */
export const RESERVED_FIELDS = new Set([
  "number_of_examples",
  "number_of_tools",
  "json_dumped_number_of_words",
  "number_of_turns",
  "temperature",
  "aggregate",
  "_aggregate",
  "is_aggregated",
  "model_extra",
  "model_fields_set",
]);

/** Attributes of the statistics object upstream. Metrics files do not contain row fields with these names. */
const UNSHOWN_FIELDS = new Set([
  "add",
  "construct",
  "copy",
  "dict",
  "from_orm",
  "json",
  "model_computed_fields",
  "model_config",
  "model_construct",
  "model_copy",
  "model_dump",
  "model_dump_json",
  "model_fields",
  "model_json_schema",
  "model_parametrized_name",
  "model_post_init",
  "model_rebuild",
  "model_validate",
  "model_validate_json",
  "model_validate_strings",
  "parse_file",
  "parse_obj",
  "parse_raw",
  "schema",
  "schema_json",
  "update_forward_refs",
  "validate",
]);

export interface StringSummary {
  uniqueCount: number;
  totalCount: number;
}

export type FieldSummary =
  | { kind: "number"; value: NumericSummary }
  | { kind: "string"; value: StringSummary };

/** The statistics of a metrics file. */
export interface StatisticsSummary {
  examples: number;
  tools: NumericSummary;
  words: NumericSummary;
  turns: NumericSummary;
  temperature: NumericSummary;
  fields: ReadonlyMap<string, FieldSummary>;
}

class StringStatistic {
  readonly distinct = new DistinctCounter();
  total = 0;

  observe(text: string): void {
    this.distinct.add(text);
    this.total++;
  }
}

type FieldStatistic = NumericStatistic | StringStatistic;

/** Statistics of the rows of one dataset or, after `merge`, of all datasets of a type. */
export class DatasetStatistics {
  private examples = 0;
  private readonly tools = new NumericStatistic();
  private readonly words = new NumericStatistic();
  private readonly turns = new NumericStatistic();
  private readonly temperature = new NumericStatistic();
  private readonly fields = new Map<string, FieldStatistic>();
  private reserved = false;

  /** Whether a row field has a reserved name, so that `summary` will fail. */
  get hasReservedField(): boolean {
    return this.reserved;
  }

  /** Adds a valid row `times` times. `params` are its normalized create params. */
  observe(row: Record<string, unknown>, params: Record<string, unknown>, times = 1): void {
    const words = jsonWordCount(params);
    const tools = Array.isArray(params["tools"]) ? params["tools"].length : undefined;
    const turns = countUserTurns(params["input"]);
    const temperature = params["temperature"];
    this.examples += times;
    for (let repeat = 0; repeat < times; repeat++) {
      this.words.mergeValue(words);
      if (tools !== undefined) this.tools.mergeValue(tools);
      if (turns > 0) this.turns.mergeValue(turns);
      if (temperature !== undefined && temperature !== null) this.temperature.mergeValue(Number(temperature));
      this.observeFields(row);
    }
  }

  /** Adds another dataset. Built-in statistics are combined; statistics of row fields are replaced, as upstream. */
  merge(other: DatasetStatistics): void {
    this.examples += other.examples;
    this.tools.merge(other.tools);
    this.words.merge(other.words);
    this.turns.merge(other.turns);
    this.temperature.merge(other.temperature);
    for (const [name, statistic] of other.fields) this.fields.set(name, statistic);
  }

  /** Fails if a row field has a reserved name. */
  summary(): StatisticsSummary {
    const fields = new Map<string, FieldSummary>();
    for (const [name, statistic] of this.fields) {
      if (RESERVED_FIELDS.has(name)) {
        throw new DatasetError(
          "DATASET_FIELD_RESERVED",
          `The row field ${stringRepr(name)} has a name that is reserved in metrics files. Rename it. Reserved names: ${[...RESERVED_FIELDS].join(", ")}.`,
        );
      }
      if (!name.startsWith("_") && !UNSHOWN_FIELDS.has(name)) fields.set(name, summarizeField(statistic));
    }
    return {
      examples: this.examples,
      tools: this.tools.summary(),
      words: this.words.summary(),
      turns: this.turns.summary(),
      temperature: this.temperature.summary(),
      fields,
    };
  }

  private observeFields(row: Record<string, unknown>): void {
    for (const name of orderedKeys(row)) {
      if (name === "responses_create_params" || name === "response") continue;
      const value = row[name];
      if (Array.isArray(value)) for (const item of value) this.observeField(name, item);
      else this.observeField(name, value);
    }
  }

  private observeField(name: string, given: unknown): void {
    const value = given instanceof PyFloat || typeof given === "bigint" ? Number(given) : given;
    if (typeof value === "string") {
      this.fieldStatistic(name, StringStatistic).observe(value);
    } else if (typeof value === "number" || typeof value === "boolean") {
      this.fieldStatistic(name, NumericStatistic).observe(Number(value));
    }
  }

  private fieldStatistic<S extends FieldStatistic>(name: string, kind: new () => S): S {
    const known = this.fields.get(name);
    if (known instanceof kind) return known;
    if (known !== undefined) {
      throw new DatasetError(
        "DATASET_FIELD_MIXED_TYPES",
        `The row field ${stringRepr(name)} contains text in some places and numbers in others; use one type.`,
      );
    }
    const statistic = new kind();
    this.fields.set(name, statistic);
    if (RESERVED_FIELDS.has(name)) this.reserved = true;
    return statistic;
  }
}

function summarizeField(statistic: FieldStatistic): FieldSummary {
  if (statistic instanceof NumericStatistic) return { kind: "number", value: statistic.summary() };
  return { kind: "string", value: { uniqueCount: statistic.distinct.size, totalCount: statistic.total } };
}

function countUserTurns(input: unknown): number {
  if (typeof input === "string") return 1;
  if (!Array.isArray(input)) return 0;
  return input.filter((item) => typeof item === "object" && item !== null && item.role === "user").length;
}

/**
 * The number of whitespace-separated words in Python's JSON text of `value`, counted without creating that text. Python
 * writes one space after each separator and escapes all whitespace in strings except the plain space.
 */
export function jsonWordCount(value: unknown): number {
  return 1 + countGaps(value);
}

function countGaps(value: unknown): number {
  if (typeof value === "string") return countSpaceRuns(value);
  if (typeof value !== "object" || value === null || isPyFloat(value)) return 0;
  let gaps = 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) gaps += countGaps(item);
    members = value.length;
  } else {
    const object = value as Record<string, unknown>;
    for (const key of Object.keys(object)) {
      const member = object[key];
      if (member === undefined) continue;
      members++;
      gaps += 1 + countSpaceRuns(key) + countGaps(member);
    }
  }
  return gaps + Math.max(0, members - 1);
}

function countSpaceRuns(text: string): number {
  let runs = 0;
  for (let at = text.indexOf(" "); at !== -1; at = text.indexOf(" ", at + 1)) {
    if (text.charCodeAt(at - 1) !== 0x20) runs++;
  }
  return runs;
}
