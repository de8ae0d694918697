import { orderedKeys } from "../../python/json/key-order.ts";
import { PyFloat } from "../../python/numbers/py-float.ts";
import { stringRepr } from "../../python/repr.ts";
import { DatasetError } from "../errors.ts";
import { DistinctCounter } from "./distinct-counter.ts";
import { NumericStatistic, type NumericSummary } from "./numeric-statistic.ts";
import { jsonWordCount } from "./word-count.ts";

/** Names the row-field statistics may not take: upstream keeps its built-in statistics under them, or its state. */
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

/** Names upstream takes for attributes of its statistics object, so that no metrics file shows them. */
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

/** Everything a metrics file says about the rows. */
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

/** Statistics over the rows of one dataset, or, after `merge`, of all datasets of one type. */
export class DatasetStatistics {
  private examples = 0;
  private readonly tools = new NumericStatistic();
  private readonly words = new NumericStatistic();
  private readonly turns = new NumericStatistic();
  private readonly temperature = new NumericStatistic();
  private readonly fields = new Map<string, FieldStatistic>();
  private reserved = false;

  /** Whether a row field has taken a reserved name, for which `summary` will fail. */
  get hasReservedField(): boolean {
    return this.reserved;
  }

  /** Adds one valid row `times` times; `params` are its normalized create params. */
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

  /** Adds another dataset: the built-in statistics are joined, for row fields its own replace those known so far. */
  merge(other: DatasetStatistics): void {
    this.examples += other.examples;
    this.tools.merge(other.tools);
    this.words.merge(other.words);
    this.turns.merge(other.turns);
    this.temperature.merge(other.temperature);
    for (const [name, statistic] of other.fields) this.fields.set(name, statistic);
  }

  /** Fails where a row field has taken a reserved name. */
  summary(): StatisticsSummary {
    const fields = new Map<string, FieldSummary>();
    for (const [name, statistic] of this.fields) {
      if (RESERVED_FIELDS.has(name)) {
        throw new DatasetError(
          "DATASET_FIELD_RESERVED",
          `The row field ${stringRepr(name)} has a name that metrics files keep for themselves. Rename it; reserved are: ${[...RESERVED_FIELDS].join(", ")}.`,
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
      const statistic = this.fieldStatistic(name, StringStatistic);
      statistic.observe(value);
    } else if (typeof value === "number" || typeof value === "boolean") {
      const statistic = this.fieldStatistic(name, NumericStatistic);
      statistic.observe(Number(value));
    }
  }

  private fieldStatistic<S extends FieldStatistic>(name: string, kind: new () => S): S {
    const known = this.fields.get(name);
    if (known instanceof kind) return known;
    if (known !== undefined) {
      throw new DatasetError(
        "DATASET_FIELD_MIXED_TYPES",
        `The row field ${stringRepr(name)} holds text in some places and numbers in others; make it one of the two.`,
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
