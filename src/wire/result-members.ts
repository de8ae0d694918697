import { isObject } from "../base/python/json/door.ts";

/** The counts of the judge calls of one verification: `_ng_judge` of a result. */
export interface JudgeTally {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  /** Replies without a readable verdict. */
  unreadable: number;
  /** Who judged. */
  judges: JudgeCalls[];
  /** The verdicts of each question that was asked several times; null for a reply without a verdict. */
  votes?: (string | null)[][];
  /** Digests of the judge's prompt, with its settings, and of the code that reads its replies. */
  prompt?: string;
  parser?: string;
}

/** The calls that one model of one model server answered; `model` is null if the server does not name it. */
export interface JudgeCalls {
  server: string;
  model: string | null;
  calls: number;
}

/** Maximum number of judges that are counted one by one. */
const MAX_JUDGES = 20;

export function emptyJudgeTally(): JudgeTally {
  return { calls: 0, input_tokens: 0, output_tokens: 0, unreadable: 0, judges: [] };
}

/** Adds calls to those of the same judge, in place. */
export function addJudgeCalls(judges: JudgeCalls[], { server, model, calls }: JudgeCalls): void {
  const known = judges.find((judge) => judge.server === server && judge.model === model);
  if (known) known.calls += calls;
  else if (judges.length < MAX_JUDGES) judges.push({ server, model, calls });
}

/** Exceptions of the tools of a server in one rollout: `_ng_tool_exceptions` of a result. */
export interface ToolExceptions {
  server: string;
  count: number;
  /** The message of the first exception. */
  message: string;
}

/**
 * The members of a row that exclude a rollout from training. NeMo RL reads `instance_config.mask_sample`. Other readers
 * use `mask_sample` at the top level.
 */
export function maskMembers(row: Readonly<Record<string, unknown>>): {
  mask_sample: true;
  instance_config: Record<string, unknown>;
} {
  const config = row["instance_config"];
  return { mask_sample: true, instance_config: { ...(isObject(config) ? config : {}), mask_sample: true } };
}
