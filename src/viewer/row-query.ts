import { z } from "zod";
import { SORTS, STATUSES } from "./api-types.ts";
import { ViewerRequestError } from "./errors.ts";

/** Most rows in one answer. */
const MAX_PAGE = 500;
const MAX_NEEDLE = 500;

const number = z
  .string()
  .trim()
  .min(1)
  .transform(Number)
  .refine((value) => Number.isFinite(value), "is no number");
const count = number.refine(
  (value) => Number.isSafeInteger(value) && value >= 0,
  "is no whole number from 0",
);

const Query = z.object({
  sort: z.enum(SORTS).default("file"),
  order: z.enum(["asc", "desc"]).default("asc"),
  status: z.enum(STATUSES).default("all"),
  reward_min: number.optional(),
  reward_max: number.optional(),
  agent: z.string().max(1000).optional(),
  failure: z.string().max(1000).optional(),
  task: count.optional(),
  text: z.string().max(MAX_NEEDLE).default(""),
  pass_threshold: number.default(1),
  offset: count.default(0),
  limit: count.refine((value) => value <= MAX_PAGE, `is more than ${MAX_PAGE}`).default(100),
  locate: z
    .string()
    .regex(/^(rollouts|failures):\d{1,12}$/, "must be rollouts:LINE or failures:LINE")
    .optional(),
});

/** What the browser may ask of the list; every part is optional. */
export type RowQuery = z.infer<typeof Query>;

/** Reads the parameters of an address; unknown ones and bad values are refused by name. */
export function readQuery(parameters: URLSearchParams): RowQuery {
  const given: Record<string, string> = Object.create(null);
  for (const [name, value] of parameters) {
    if (!Object.hasOwn(Query.shape, name)) {
      const known = Object.keys(Query.shape).join(", ");
      throw new ViewerRequestError(400, `Unknown parameter '${name}'. Known are: ${known}.`);
    }
    if (value !== "") given[name] = value;
  }
  const result = Query.safeParse({ ...given });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ViewerRequestError(400, `${issue?.path.join(".")}: ${issue?.message}`);
}
