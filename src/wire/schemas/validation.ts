import type { ZodError } from "zod";
import { GymError } from "../../base/errors.ts";

/** The path of a value in a request: keys and list indexes. */
export type Location = readonly (string | number)[];

/** One rejected value, in the format of FastAPI. */
export interface ErrorDetail {
  type: string;
  loc: (string | number)[];
  msg: string;
  input: unknown;
  /** Details of the reason, as in messages of the original. */
  ctx?: Record<string, unknown>;
}

const SHOWN_IN_MESSAGE = 3;

/** A request or response does not match its schema. Servers answer with 422 and `{detail}`. */
export class ValidationError extends GymError {
  readonly detail: ErrorDetail[];

  constructor(detail: ErrorDetail[], options?: { cause?: unknown }) {
    super("VALIDATION_FAILED", summarize(detail), options);
    this.detail = detail;
  }
}

function summarize(detail: ErrorDetail[]): string {
  const shown = detail.slice(0, SHOWN_IN_MESSAGE).map(({ loc, msg }) => `${loc.join(".") || "body"}: ${msg}`);
  const hidden = detail.length - shown.length;
  return shown.join("; ") + (hidden > 0 ? `; and ${hidden} more` : "");
}

type ZodIssue = ZodError["issues"][number];

const TYPE_NAMES: Record<string, [type: string, noun: string]> = {
  string: ["string_type", "string"],
  number: ["float_type", "number"],
  int: ["int_type", "integer"],
  boolean: ["bool_type", "boolean"],
  array: ["list_type", "list"],
  object: ["model_attributes_type", "dictionary or object to extract fields from"],
  record: ["dict_type", "dictionary"],
};

/**
 * Converts a ZodError to details in the format of FastAPI. Every location starts with `prefix`.
 *
 * @example zodDetail(error, ["body"]) // [{ type: "missing", loc: ["body", "count"], msg: "Field required", input: {…} }]
 */
export function zodDetail(error: ZodError, prefix: Location = [], input?: unknown): ErrorDetail[] {
  return error.issues.flatMap((issue) => issueDetail(issue, prefix, input));
}

function issueDetail(issue: ZodIssue, prefix: Location, root: unknown): ErrorDetail[] {
  const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
  const loc = [...prefix, ...path];
  const found = issue.input === undefined ? valueAt(root, path) : issue.input;
  const input = found ?? null;
  const pydantic = issue.code === "custom" ? issue.params?.["pydantic"] : undefined;
  if (pydantic === "missing" || (found === undefined && path.length > 0 && issue.code !== "custom")) {
    return [{ type: "missing", loc, msg: "Field required", input: valueAt(root, path.slice(0, -1)) ?? null }];
  }
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        type: "extra_forbidden",
        loc: [...loc, key],
        msg: "Extra inputs are not permitted",
        input: valueAt(found, [key]) ?? null,
      }));
    case "invalid_type": {
      const [type, noun] = TYPE_NAMES[issue.expected] ?? [`${issue.expected}_type`, issue.expected];
      return [{ type, loc, msg: `Input should be a valid ${noun}`, input }];
    }
    case "invalid_value":
      return [{ type: "literal_error", loc, msg: `Input should be ${listChoices(issue.values)}`, input }];
    case "invalid_union": {
      const inner = issue.errors.flat().flatMap((member) => issueDetail(member, loc, found));
      return inner.length > 0 ? inner : [{ type: "union_tag_invalid", loc, msg: issue.message, input }];
    }
    default:
      return [{ type: String(pydantic ?? "value_error"), loc, msg: issue.message, input }];
  }
}

function valueAt(root: unknown, path: Location): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}

/** The choices of a closed list in the format of pydantic: `'a', 'b' or 'c'`. */
export function listChoices(values: readonly unknown[]): string {
  const quoted = values.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
  const last = quoted.pop() ?? "";
  return quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
}
