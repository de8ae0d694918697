import type { Adapter } from "../adapters.ts";
import { judgeCallsDifference } from "../judge-calls.ts";
import { isObject } from "../rows.ts";
import { messagesOf, type RecordedCall } from "../scripted-servers.ts";
import { runVerifyCase } from "../verify-case.ts";

/** Both games run at once; the rows have the policy's answer in the first place in one of them. */
function gameOf(call: RecordedCall): string {
  const text = String(messagesOf(call).at(-1)?.["content"] ?? "");
  return text.endsWith("|B=Base") ? "policy_first" : "baseline_first";
}

export const adapter: Adapter = {
  // One reply for each game, which may be a list of items.
  caseOf: (row, environment) => () => {
    const replies = Object.entries(isObject(row["judge_outputs"]) ? row["judge_outputs"] : {});
    const judge_outputs = Object.fromEntries(replies.map(([game, reply]) => [game, [reply]]));
    return runVerifyCase({ ...row, judge_outputs }, environment);
  },
  judgeKey: gameOf,
  judgeCalls: (calls, expected) =>
    judgeCallsDifference(
      [...calls].sort((left, right) => gameOf(right).localeCompare(gameOf(left))),
      expected,
    ),
  comparable: (body) => ({
    ...body,
    // The rows have only the verdicts.
    ...(Array.isArray(body["games"]) && {
      games: body["games"].map((game: unknown) => (isObject(game) ? { verdict: game["verdict"] } : game)),
    }),
  }),
  // A game that was not judged is a failure of the rollout here.
  unlisted: ["_ng_failure_class", "_ng_failure_judge_error"],
  ignore: ["mask_sample", "failure_kind", "failure_reason"],
};
