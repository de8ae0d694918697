import { isObject, isTruthy, toPyFloat, toPyInt } from "nemo-gym/python";

export interface Verdict {
  evaluation_completed: boolean;
  reward: number;
  apply_failed: boolean;
  verifier_exit_code: number | null;
  verifier_error: string | null;
  f2p_total: number;
  f2p_passed: number;
  p2p_total: number;
  p2p_passed: number;
  f2p: number;
  p2p: number;
  partial: number;
}

/** A verifier without a result: its reward is 0, and `evaluation_completed` is false. */
export function notCompleted(verifier_error: string, verifier_exit_code: number | null = null): Verdict {
  return {
    ...{ evaluation_completed: false, reward: 0, apply_failed: false, verifier_exit_code, verifier_error },
    ...{ f2p_total: 0, f2p_passed: 0, p2p_total: 0, p2p_passed: 0, f2p: 0, p2p: 0, partial: 0 },
  };
}

/** What the verifier of a task has written: its reward must be exactly 0 or 1, and a report of the tests must exist. */
export function verdictOf(rewardJson: string | null, hasReport: boolean, exitCode: number): Verdict {
  if (rewardJson === null) return notCompleted("The verifier wrote no /logs/verifier/reward.json.", exitCode);
  const data = parse(rewardJson);
  if (!isObject(data))
    return notCompleted("The verifier wrote a reward.json that is not a JSON object.", exitCode);
  const number = (name: string) => toPyFloat(data[name] ?? (name in data ? Number.NaN : 0)) ?? Number.NaN;
  const whole = (name: string) => Number(toPyInt(data[name] ?? (name in data ? "" : 0)) ?? Number.NaN);
  const reward = number("reward");
  if (reward !== 0 && reward !== 1)
    return notCompleted(
      `The verifier gave the reward ${JSON.stringify(data["reward"])}, which is not 0 or 1.`,
      exitCode,
    );
  if (!hasReport) return notCompleted("The verifier wrote no /logs/verifier/ctrf.json.", exitCode);
  const counts = {
    f2p_total: whole("f2p_total"),
    f2p_passed: whole("f2p_passed"),
    p2p_total: whole("p2p_total"),
    p2p_passed: whole("p2p_passed"),
    f2p: number("f2p"),
    p2p: number("p2p"),
    partial: number("partial"),
  };
  if (Object.values(counts).some(Number.isNaN))
    return notCompleted("The verifier wrote a reward.json with values that are not numbers.", exitCode);
  return {
    ...{ evaluation_completed: true, reward, verifier_exit_code: exitCode, verifier_error: null },
    apply_failed: isTruthy(data["apply_failed"] ?? false),
    ...counts,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The task of a row, which may name it in two places; undefined if it names none, or two. */
export function taskIdOf(taskId: unknown, metadata: unknown): string | undefined {
  const other = isObject(metadata) ? metadata["task_id"] : undefined;
  if (taskId && other && taskId !== other) return undefined;
  const id = taskId || other;
  return typeof id === "string" && id !== "" ? id : undefined;
}
