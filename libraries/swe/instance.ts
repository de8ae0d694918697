import { HttpError } from "nemo-gym";
import { z } from "zod";

/** SWE-bench files contain some lists as JSON text. */
const testNames = z
  .union([z.array(z.string()), z.string()])
  .nullish()
  .transform((value, context) => {
    if (typeof value !== "string") return value ?? [];
    try {
      return z.array(z.string()).parse(JSON.parse(value));
    } catch {
      context.addIssue("must be a list of test names, or its JSON text");
      return z.NEVER;
    }
  });

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
const commands = z
  .union([z.string(), z.array(z.string())])
  .nullish()
  .transform((value) => (typeof value === "string" ? [value] : (value ?? [])));

/** One task in the format of SWE-bench, SWE-Gym and related datasets. */
export const SweInstance = z.looseObject({
  instance_id: z.string().min(1),
  problem_statement: text,
  repo: text,
  base_commit: text,
  version: z
    .union([z.string(), z.number()])
    .nullish()
    .transform((value) => (value == null ? "" : String(value))),
  /** The reference solution. */
  patch: text,
  test_patch: text,
  FAIL_TO_PASS: testNames,
  PASS_TO_PASS: testNames,
  /** `gym` and `verified` have their own image names; `local` is a prepared directory. */
  subset: z
    .string()
    .nullish()
    .transform((value) => value ?? "verified"),
  /** The image of this instance, if its name does not follow the rules. */
  image: z.string().nullish(),
  docker_image: z.string().nullish(),
  image_name: z.string().nullish(),
  /** The test command, if the repository's usual command does not apply. Test files are appended. */
  test_cmd: commands,
  /** Commands to run before the tests, for example to rebuild. */
  eval_commands: commands,
  log_parser: z.enum(["pytest", "unittest", "sympy"]).nullish(),
});
export type SweInstance = z.output<typeof SweInstance>;

/** The instance of a row; throws an error with the reason if the row has none. */
export function readInstance(row: unknown): SweInstance {
  const parsed = SweInstance.safeParse(row);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new HttpError(422, `The row is not a SWE instance: ${problems.join("; ")}`);
}
