/** Header that names the rollout a model call belongs to, also when nothing is captured. */
export const ROLLOUT_HEADER = "x-nemo-gym-rollout";
/** Sent with `/seed_session` by an agent that starts a rollout: the whole row is checked, and the reply names the tools. */
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

/** Whether a path already says which rollout it belongs to. */
export function isPrefixed(path: string): boolean {
  return path.startsWith(PREFIX);
}

/** The prefix that attributes a call to a rollout. */
export function rolloutPrefix(
  rolloutId: string | undefined,
  options: { tokenCapture?: boolean } = {},
): string {
  if (rolloutId === undefined) return "";
  return `${PREFIX}${rolloutId}${options.tokenCapture ? CAPTURE : ""}`;
}
