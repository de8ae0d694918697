import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../../../../base/python/json/door.ts";
import { messageItem } from "../../../../servers/hosting/light-door.ts";
import { type Audit, type AuditFinding, type Check, findingOf, sameReward } from "../audit.ts";
import { goldAttempts, randomToolAttempt, toolsOf } from "../policies.ts";
import type { AuditAttempt, AuditOutcome } from "../rollout.ts";

/** Attempts with a result to compare: the right answer if it is known, and tool calls or a wrong answer. */
export function telltaleAttempts({ rows, settings }: Audit, index: number): AuditAttempt[] {
  const row = rows[index] ?? {};
  const [gold] = goldAttempts(row, index, settings.gold);
  const tools = toolsOf(row).length > 0 && settings.call_tools;
  const other: AuditAttempt = tools
    ? randomToolAttempt(row, `determinism ${index}`)
    : { policy: "wrong answer", items: [messageItem("Perhaps it is 7.\nAnswer: 7\n\\boxed{7}")] };
  return gold === undefined ? [other] : [gold, other];
}

interface Work {
  readonly index: number;
  readonly attempt: AuditAttempt;
}

function workOf(audit: Audit, attemptsFor: (index: number) => AuditAttempt[]): Work[] {
  return [...audit.rows.keys()].flatMap((index) => attemptsFor(index).map((attempt) => ({ index, attempt })));
}

async function inSequence<T>(
  work: readonly T[],
  run: (item: T) => Promise<AuditOutcome>,
): Promise<AuditOutcome[]> {
  const outcomes: AuditOutcome[] = [];
  for (const item of work) outcomes.push(await run(item));
  return outcomes;
}

/** Where two outcomes of the same rollout differ. */
function differenceOf(
  a: AuditOutcome | undefined,
  b: AuditOutcome | undefined,
  { settings }: Audit,
): string | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (a.status !== b.status) return `status ${a.status} and ${b.status}`;
  if (!sameReward(a.reward, b.reward)) return `reward ${a.reward} and ${b.reward}`;
  const call = a.toolReplies.findIndex((reply, at) => reply.text !== b.toolReplies[at]?.text);
  if (call >= 0) return `the reply of the tool '${a.toolReplies[call]?.name}'`;
  const [first, second] = [a, b].map(({ result }) => withoutFields(result, settings.measured_fields));
  const keys = new Set([...Object.keys(first ?? {}), ...Object.keys(second ?? {})]);
  const key = [...keys].find((name) => !isDeepStrictEqual(first?.[name], second?.[name]));
  return key === undefined ? undefined : `the field '${key}'`;
}

function withoutFields(result: JsonObject, fields: readonly string[]): JsonObject {
  if (fields.length === 0) return result;
  const copy = structuredClone(result);
  for (const field of fields) {
    const names = field.split(".");
    const last = names.pop() ?? "";
    const holder = names.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), copy);
    if (isObject(holder)) delete holder[last];
  }
  return copy;
}

export const determinismCheck: Check = {
  name: "verification-deterministic",
  title: "The same rollout gets the same result every time",
  async run(audit) {
    const findings: AuditFinding[] = [];
    for (const { index, attempt } of workOf(audit, (row) => telltaleAttempts(audit, row))) {
      const first = await audit.rollout(index, attempt);
      const second = await audit.rollout(index, attempt);
      const difference = differenceOf(first, second, audit);
      if (difference === undefined) continue;
      const finding = findingOf(`Two runs differ: ${difference}.`, index, attempt, first);
      findings.push({ ...finding, evidence: { ...finding.evidence, again: second.result } });
    }
    return { findings };
  },
};

export const orderCheck: Check = {
  name: "verification-order-independent",
  title: "The order of rollouts does not change a result",
  async run(audit) {
    const work = workOf(audit, (row) => telltaleAttempts(audit, row));
    const runAll = (items: readonly Work[]) =>
      audit.withServer("reject", (server) =>
        inSequence(items, ({ index, attempt }) => audit.rollout(index, attempt, { server })),
      );
    const inOrder = await runAll(work);
    const reversed = (await runAll(work.toReversed())).toReversed();
    const findings = work.flatMap(({ index, attempt }, at) => {
      const first = inOrder[at];
      const difference = differenceOf(first, reversed[at], audit);
      if (first === undefined || difference === undefined) return [];
      return [findingOf(`In reverse order the result differs: ${difference}.`, index, attempt, first)];
    });
    return { findings, note: `${work.length} rollouts, forwards and backwards` };
  },
};

/** Number of concurrent rollouts of each row. */
const SESSIONS_PER_ROW = 3;

export const isolationCheck: Check = {
  name: "sessions-isolated",
  title: "Concurrent rollouts do not affect each other",
  async run(audit) {
    const { settings, rows } = audit;
    const work = workOf(audit, (index) => {
      const row = rows[index] ?? {};
      const attempts = telltaleAttempts(audit, index);
      for (let session = 0; session < SESSIONS_PER_ROW && settings.call_tools; session++) {
        if (toolsOf(row).length > 0) attempts.push(randomToolAttempt(row, `session ${index} ${session}`));
      }
      return [...attempts, ...goldAttempts(row, index, settings.gold).slice(0, 1)];
    });
    const alone = await inSequence(work, ({ index, attempt }) => audit.rollout(index, attempt));
    const together = await audit.withServer("reject", (server) =>
      Promise.all(work.map(({ index, attempt }) => audit.rollout(index, attempt, { server }))),
    );
    const findings = work.flatMap(({ index, attempt }, at) => {
      const second = together[at];
      const difference = differenceOf(alone[at], second, audit);
      if (second === undefined || difference === undefined) return [];
      const message = `Beside ${work.length - 1} others the result differs: ${difference}.`;
      return [findingOf(message, index, attempt, second)];
    });
    return { findings, note: `${work.length} sessions at once` };
  },
};
