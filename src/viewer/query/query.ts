import { suggest } from "../../base/suggest.ts";

/** Fields that hold a number. */
export const NUMBER_FIELDS = {
  reward: "reward of the rollout",
  task: "task index",
  repeat: "rollout index within the task",
  attempt: "number of the attempt, from 1",
  turns: "turns of the model",
  calls: "tool calls",
  tokens: "output tokens",
  input: "input tokens",
  cost: "cost in dollars",
  seconds: "time the rollout took",
  bytes: "size of the row",
  line: "line in the file",
} as const;

/** Fields that hold names; a name matches when it contains the value, in any case. */
export const NAME_FIELDS = {
  agent: "agent",
  model: "model that answered",
  tool: "a tool that was called",
  error: "class of the failure",
  label: "a label of yours",
} as const;

export const STATES = {
  completed: "completed, with or without a reward",
  failed: "a failed attempt",
  lost: "the last failed attempt of a rollout that did not complete and is not being retried",
  passed: "reward at the threshold or above",
  partial: "reward between 0 and the threshold",
  zero: "reward 0 or below",
  masked: "not to be learned from (mask_sample)",
  retried: "completed after failed attempts",
  bad: "a line that is not a row",
  annotated: "has a label or a note",
  excluded: "excluded by you",
} as const;

export type NumberField = keyof typeof NUMBER_FIELDS;
export type NameField = keyof typeof NAME_FIELDS;
export type State = keyof typeof STATES;
export type Operator = "<" | "<=" | ">" | ">=" | "=" | "!=";

export type Term = { negated: boolean } & (
  | { kind: "text"; text: string }
  | { kind: "number"; field: NumberField; operator: Operator; value: number }
  | { kind: "name"; field: NameField; value: string }
  | { kind: "is"; state: State }
);

/** A query that cannot be parsed; the message names what was expected. */
export class QueryError extends Error {}

const TERM = /(-?)(?:([a-z]+)(<=|>=|!=|<|>|=|:))?("(?:[^"\\]|\\.)*"?|\S*)/giy;
/** A term that consists of one of these words is rejected, because it is not a search for that word. */
const LOGIC_WORDS = ["OR", "AND", "NOT"];

/**
 * Reads a query such as `reward<0.5 tool:python -is:masked "exact words"`. Words without a field are searched in the
 * whole row; a minus negates a term.
 */
export function parseQuery(query: string): Term[] {
  const terms: Term[] = [];
  const matcher = new RegExp(TERM);
  let at = 0;
  for (;;) {
    while (at < query.length && /\s/.test(query[at] ?? "")) at++;
    if (at >= query.length) return terms;
    matcher.lastIndex = at;
    const match = matcher.exec(query);
    if (match === null) throw new QueryError(`'${query.slice(at)}' is not a term of a query.`);
    at = matcher.lastIndex;
    const [, minus = "", field, operator, written = ""] = match;
    checkWritten(match[0], written);
    const term = termOf(field?.toLowerCase(), operator, unquoted(written));
    if (term) terms.push({ negated: minus === "-", ...term });
    else terms.push({ negated: minus === "-", kind: "text", text: unquoted(match[0].slice(minus.length)) });
  }
}

function checkWritten(term: string, written: string): void {
  if (written.startsWith('"') && !/^"(?:[^"\\]|\\.)*"$/s.test(written))
    throw new QueryError(`The quote is not closed: ${written}`);
  // Every row contains the empty text.
  if (term.replace(/^-/, "") === '""')
    throw new QueryError("Write the text to search for between the quotes.");
  if (term === "-") throw new QueryError("A term must follow '-'. To search for it, write \"-\".");
  if (LOGIC_WORDS.includes(term))
    throw new QueryError(
      `All terms must match, and '-' negates one. To search for ${term}, write "${term}".`,
    );
}

type Positive = Term extends infer Each ? (Each extends Term ? Omit<Each, "negated"> : never) : never;

/** Undefined for plain text, such as `https://…` or `x=1`. */
function termOf(
  field: string | undefined,
  operator: string | undefined,
  value: string,
): Positive | undefined {
  if (field === undefined || operator === undefined) return { kind: "text", text: value };
  const fields = [...Object.keys(NUMBER_FIELDS), ...Object.keys(NAME_FIELDS), "is"];
  if (value === "" && fields.includes(field))
    throw new QueryError(`Give a value after '${field}${operator}'.`);
  if (field === "is") {
    if (!Object.hasOwn(STATES, value)) throw new QueryError(unknown("state", value, Object.keys(STATES)));
    return { kind: "is", state: value as State };
  }
  if (Object.hasOwn(NUMBER_FIELDS, field)) {
    const number = value.trim() === "" ? Number.NaN : Number(value);
    if (!Number.isFinite(number))
      throw new QueryError(`'${field}' is compared with a number, not '${value}'.`);
    return {
      kind: "number",
      field: field as NumberField,
      operator: operator === ":" ? "=" : (operator as Operator),
      value: number,
    };
  }
  if (Object.hasOwn(NAME_FIELDS, field)) {
    if (operator !== ":" && operator !== "=")
      throw new QueryError(`'${field}' is a name: write ${field}:${value}.`);
    return { kind: "name", field: field as NameField, value };
  }
  const isAddress = operator === ":" && value.startsWith("//");
  const hasNear = suggest(field, fields) !== undefined;
  if (isAddress || (operator !== ":" && !hasNear)) return undefined;
  const text = quoted(`${field}${operator}${value}`);
  throw new QueryError(`${unknown("field", field, fields)} To search for the text, write ${text}.`);
}

/** A text as a query for it. */
export function quoted(text: string): string {
  return /^[^\s":<>=!-][^\s":<>=!]*$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function unquoted(written: string): string {
  if (!written.startsWith('"')) return written;
  return written.replace(/^"|"$/g, "").replace(/\\(.)/g, "$1");
}

function unknown(what: string, value: string, known: readonly string[]): string {
  const near = suggest(value, known);
  return `There is no ${what} '${value}'.${near ? ` Did you mean '${near}'?` : ` Known: ${known.join(", ")}.`}`;
}

/** Evaluates the terms of a query on rows of some type. */
export interface TermReader<Row> {
  number: (field: NumberField) => (row: Row) => number;
  name: (field: NameField, value: string) => (row: Row) => boolean;
  is: (state: State) => (row: Row) => boolean;
  text: (text: string) => (row: Row) => boolean;
}

/** Whether a row matches all terms. */
export function predicateOf<Row>(terms: readonly Term[], reader: TermReader<Row>): (row: Row) => boolean {
  const tests = terms.map((term) => {
    const test = testOf(term, reader);
    return term.negated ? (row: Row) => !test(row) : test;
  });
  return (row) => {
    for (const test of tests) if (!test(row)) return false;
    return true;
  };
}

const COMPARISONS: Readonly<Record<Operator, (a: number, b: number) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

function testOf<Row>(term: Term, reader: TermReader<Row>): (row: Row) => boolean {
  switch (term.kind) {
    case "text":
      return reader.text(term.text);
    case "name":
      return reader.name(term.field, term.value);
    case "is":
      return reader.is(term.state);
    case "number": {
      const read = reader.number(term.field);
      const compare = COMPARISONS[term.operator];
      return (row) => compare(read(row), term.value);
    }
  }
}
