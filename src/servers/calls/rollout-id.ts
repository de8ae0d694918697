import { pyStr } from "../../base/python/door.ts";
import { PyFloat, parsePyInt } from "../../base/python/numbers/door.ts";
import { ValidationError } from "../../wire/schemas/door.ts";

const ROLLOUT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Whether a text is a valid rollout id. Valid ids are safe in paths and file names. */
export function isRolloutId(text: string): boolean {
  return ROLLOUT_ID.test(text);
}

/** Reads an attempt number like `int` of Python. 0 without one. */
function attemptNumber(attempt: unknown): number {
  if (attempt === undefined || attempt === null) return 0;
  const read = typeof attempt === "string" ? Number(parsePyInt(attempt) ?? Number.NaN) : Number(attempt);
  const isScalar = typeof attempt !== "object" || attempt instanceof PyFloat;
  if (isScalar && Number.isFinite(read)) return Math.trunc(read);
  throw new ValidationError([
    {
      type: "int_type",
      loc: ["body", "_ng_attempt_index"],
      msg: "Input should be a valid integer",
      input: attempt,
    },
  ]);
}

/** The id of the captures and trajectories of a rollout; undefined if the row has no id and no indexes. */
export function rolloutIdOf(row: Readonly<Record<string, unknown>>): string | undefined {
  const {
    _ng_rollout_id: given,
    _ng_task_index: task,
    _ng_rollout_index: rollout,
    _ng_attempt_index: attempt,
  } = row;
  let id: string;
  if (given !== undefined && given !== null) {
    if (typeof given !== "string" || !isRolloutId(given)) {
      throw new ValidationError([
        {
          type: "value_error",
          loc: ["body", "_ng_rollout_id"],
          msg: "A rollout id is made of letters, digits, '.', '_' and '-' and starts with a letter or digit",
          input: given,
        },
      ]);
    }
    id = given;
  } else if (task === undefined || task === null || rollout === undefined || rollout === null) {
    return undefined;
  } else id = `${pyStr(task)}-${pyStr(rollout)}`;
  const number = attemptNumber(attempt);
  return number > 0 ? `${id}-a${number}` : id;
}

/** The rollout id of a row; undefined without a valid id. The caller must reject invalid ids. */
export function idInRow(row: unknown): string | undefined {
  if (typeof row !== "object" || row === null) return undefined;
  try {
    return rolloutIdOf(row as Record<string, unknown>);
  } catch {
    return undefined;
  }
}

/** Header with the rollout id of a model call. It is also sent when nothing is captured. */
export const ROLLOUT_HEADER = "x-nemo-gym-rollout";
/** Header of `/seed_session` from an agent that starts a rollout. The server checks the whole row and returns the tools. */
export const ROLLOUT_START_HEADER = "x-nemo-gym-rollout-start";

const PREFIX = "/ng-rollout/";
const CAPTURE = "/training-token-capture";

export interface PrefixedPath {
  path: string;
  rolloutId: string | undefined;
  tokenCapture: boolean;
}

/** Removes `/ng-rollout/<id>[/training-token-capture]` from a path. */
export function splitRolloutPrefix(path: string): PrefixedPath {
  if (!path.startsWith(PREFIX)) return { path, rolloutId: undefined, tokenCapture: false };
  const end = path.indexOf("/", PREFIX.length);
  if (end < 0) return { path, rolloutId: undefined, tokenCapture: false };
  const rolloutId = path.slice(PREFIX.length, end);
  const rest = path.slice(end);
  const tokenCapture = rest.startsWith(`${CAPTURE}/`);
  return { path: tokenCapture ? rest.slice(CAPTURE.length) : rest, rolloutId, tokenCapture };
}

/** Whether a path has the prefix of a rollout. */
export function isPrefixed(path: string): boolean {
  return path.startsWith(PREFIX);
}

/** The path prefix that attributes a call to a rollout. */
export function rolloutPrefix(
  rolloutId: string | undefined,
  options: { tokenCapture?: boolean } = {},
): string {
  if (rolloutId === undefined) return "";
  return `${PREFIX}${rolloutId}${options.tokenCapture ? CAPTURE : ""}`;
}
