import { z } from "zod";
import { SORTS, TASK_SETS, TASK_SORTS } from "../api-types.ts";
import { ViewerRequestError } from "../errors.ts";
import { parseQuery, QueryError, type Term } from "./query.ts";

/** Maximum number of rows in one answer. */
const MAX_PAGE = 500;
const MAX_QUERY = 2000;

const number = z
  .string()
  .regex(/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i, "must be a number")
  .transform(Number);
const count = z
  .string()
  .regex(/^\d{1,12}$/, "must be a whole number from 0")
  .transform(Number);

const Request = z.object({
  q: z.string().max(MAX_QUERY).default(""),
  sort: z.enum(SORTS).default("file"),
  order: z.enum(["asc", "desc"]).default("asc"),
  pass: number.default(1),
  set: z.enum(TASK_SETS).default("all"),
  by: z.enum(TASK_SORTS).default("task"),
  against: z.string().max(1000).optional(),
  offset: count.default(0),
  limit: count.refine((value) => value <= MAX_PAGE, `must be at most ${MAX_PAGE}`).default(100),
  locate: z
    .string()
    .regex(/^(rollouts|failures):\d{1,12}$/, "must be rollouts:LINE or failures:LINE")
    .optional(),
});

/** The parameters of a list request; all are optional. */
export type RowRequest = z.infer<typeof Request> & { terms: Term[] };

/** The parameters that `readRequest` knows. */
export const ROW_PARAMETERS: readonly string[] = Object.keys(Request.shape);

/** Parses the parameters of an address; invalid values are rejected by name. */
export function readRequest(parameters: URLSearchParams): RowRequest {
  const values: Record<string, string> = {};
  for (const name of ROW_PARAMETERS) {
    const value = parameters.get(name);
    if (value !== null && value !== "") values[name] = value;
  }
  const result = Request.safeParse(values);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new ViewerRequestError(400, `${issue?.path.join(".")}: ${issue?.message}`);
  }
  try {
    return { ...result.data, terms: parseQuery(result.data.q) };
  } catch (error) {
    if (error instanceof QueryError) throw new ViewerRequestError(400, error.message);
    throw error;
  }
}
