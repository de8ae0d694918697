/**
 * JSON Schema, draft 2020-12, with the semantics of Python's jsonschema: formats are not checked, patterns are Python patterns, lengths
 * count code points, numbers compare as in Python. `discriminator` works as described in OpenAPI 3.1.
 *
 * @module
 */
import {
  compilePyRegex,
  type PyRegex,
  RegexBudget,
  RegexBudgetError,
  RegexSyntaxError,
} from "nemo-gym/python";
import { entriesOf, isMapping, type Mapping } from "nemo-gym/verify";
import { checkSchema } from "./check-schema.ts";
import { keywords } from "./keywords.ts";
import { baseOf, type Located, References } from "./resolve.ts";
import { SchemaProblem } from "./schema-problem.ts";

/** Maximum nesting of schemas; deeper nesting is an endless recursion. */
const maxDepth = 400;
/** Maximum number of subschemas that one validation evaluates. */
const maxEvaluations = 1_000_000;

/** Maximum number of regular expression steps of one validation: the work is patterns times keys. */
const maxRegexSteps = 5_000_000;

/** The fault of an instance under a schema; undefined if there is none. An invalid schema is a fault of every instance. */
export function schemaFault(schema: unknown, instance: unknown): string | undefined {
  const broken = checkSchema(schema);
  if (broken !== undefined) return `SchemaError: ${broken}`;
  try {
    const validation = new Validation(schema);
    return validation.check(instance, { schema, base: "" }, "#")
      ? undefined
      : `ValidationError: ${validation.fault}`;
  } catch (error) {
    const known = [SchemaProblem, RegexSyntaxError, RegexBudgetError].some((type) => error instanceof type);
    if (known && error instanceof Error) return `${error.constructor.name}: ${error.message}`;
    throw error;
  }
}

/** One run of a schema over an instance. */
export class Validation {
  readonly references: References;
  /** The first fault found. */
  fault: string | undefined;
  /** Addresses of the documents entered, outermost first. */
  readonly entered: string[] = [];
  private readonly regexBudget = new RegexBudget(maxRegexSteps);
  private readonly regexes = new Map<string, PyRegex>();
  private depth = 0;
  private evaluations = 0;

  constructor(root: unknown) {
    this.references = new References(root);
  }

  /** Whether to stop at the first fault. Otherwise everything is evaluated, because one broken keyword makes the whole validation fail. */
  lazy = false;

  check(instance: unknown, { schema, base: outer }: Located, at: string): boolean {
    if (schema === true) return true;
    if (schema === false) return this.fail(`${at}: nothing is allowed here`);
    if (!isMapping(schema)) throw new SchemaProblem(`${at}: the schema is neither an object nor a boolean`);
    return this.deeper(() => this.checkKeywords(instance, schema, baseOf(schema, outer), at));
  }

  /** Whether a pattern occurs in a text. */
  matches(pattern: string, text: string): boolean {
    let regex = this.regexes.get(pattern);
    if (!regex) {
      regex = compilePyRegex(pattern);
      this.regexes.set(pattern, regex);
    }
    return regex.search(text, this.regexBudget) !== null;
  }

  /** Whether a pattern occurs in the key of a mapping. Python raises an error if the key is not a string. */
  matchesKey(pattern: string, key: unknown): boolean {
    if (typeof key === "string") return this.matches(pattern, key);
    throw new SchemaProblem("TypeError: a key that is not a string meets a pattern");
  }

  private checkKeywords(instance: unknown, schema: Mapping, base: string, at: string): boolean {
    this.entered.push(base);
    let valid = true;
    for (const [name, value] of entriesOf(schema)) {
      const keyword = typeof name === "string" ? keywords.get(name) : undefined;
      if (keyword === undefined || keyword({ validation: this, value, instance, schema, base, at })) continue;
      valid = this.fail(`${at}: fails '${String(name)}'`);
      if (this.lazy) break;
    }
    this.entered.pop();
    return valid;
  }

  /** Limits recursion and the total work. */
  deeper<Result>(action: () => Result): Result {
    if (++this.depth > maxDepth) throw new SchemaProblem("schemas refer to each other without end");
    if (++this.evaluations > maxEvaluations)
      throw new SchemaProblem("the instance takes too long to validate");
    const result = action();
    this.depth--;
    return result;
  }

  /** Runs a check whose failure is not a fault. */
  ask(question: () => boolean, lazy: boolean): boolean {
    const { fault, lazy: outer } = this;
    this.lazy = lazy;
    const valid = question();
    this.lazy = outer;
    this.fault = fault;
    return valid;
  }

  private fail(message: string): false {
    this.fault ??= message;
    return false;
  }
}
