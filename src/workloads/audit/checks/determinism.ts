import { isDeepStrictEqual } from "node:util";
import { messageItem } from "../../../hosting/response-items.ts";
import { isObject, type JsonObject } from "../../../python/json/json-object.ts";
import { type Audit, type Check, findingOf, sameReward } from "../audit.ts";
import { goldAttempts } from "../gold.ts";
import { randomToolAttempt, toolsOf } from "../policies.ts";
import type { Finding } from "../report.ts";
import type { Attempt, Outcome } from "../rollout.ts";

/** Attempts with something in them to be scored: the right answer, and tool calls or a wrong one. */
export function telltaleAttempts({ rows, settings }: Audit, index: number): Attempt[] {
  const row = rows[index] ?? {};
  const [gold] = goldAttempts(row, index, settings.gold);
  const tools = toolsOf(row).length > 0 && settings.call_tools;
  const other: Attempt = tools
    ? randomToolAttempt(row, `determinism ${index}`)
    : { policy: "wrong answer", items: [messageItem("Perhaps it is 7.\nAnswer: 7\n\\boxed{7}")] };
  return gold === undefined ? [other] : [gold, other];
}

export const determinismCheck: Check = {
  name: "verification-deterministic",
  title: "The same rollout gets the same result every time",
  async run(audit) {
    const findings: Finding[] = [];
    for (const index of audit.rows.keys()) {
      for (const attempt of telltaleAttempts(audit, index)) {
        const first = await audit.rollout(index, attempt);
        const second = await audit.rollout(index, attempt);
        const difference = differenceOf(first, second, audit);
        if (difference === undefined) continue;
        const finding = findingOf(`Two runs differ: ${difference}.`, index, attempt, first);
        findings.push({ ...finding, evidence: { ...finding.evidence, again: second.result } });
      }
    }
    return { findings };
  },
};

/** Where two outcomes of the same rollout differ. */
function differenceOf(a: Outcome, b: Outcome, { settings }: Audit): string | undefined {
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

export const orderCheck: Check = {
  name: "verification-order-independent",
  title: "What came before does not change a result",
  async run(audit) {
    const work = [...audit.rows.keys()].flatMap((index) =>
      telltaleAttempts(audit, index).map((attempt): Work => ({ index, attempt })),
    );
    const inOrder = await audit.withServer("reject", (server) =>
      inSequence(work, ({ index, attempt }) => audit.rollout(index, attempt, { server })),
    );
    const backwards = await audit.withServer("reject", (server) =>
      inSequence(work.toReversed(), ({ index, attempt }) => audit.rollout(index, attempt, { server })),
    );
    const findings: Finding[] = [];
    for (const [at, { index, attempt }] of work.entries()) {
      const [first, second] = [inOrder[at], backwards.at(-1 - at)];
      const difference = first && second && differenceOf(first, second, audit);
      if (first === undefined || difference === undefined) continue;
      findings.push(findingOf(`In reverse order the result differs: ${difference}.`, index, attempt, first));
    }
    return { findings, note: `${work.length} rollouts, forwards and backwards` };
  },
};

interface Work {
  readonly index: number;
  readonly attempt: Attempt;
}

async function inSequence(work: readonly Work[], run: (item: Work) => Promise<Outcome>): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const item of work) outcomes.push(await run(item));
  return outcomes;
}

/** Rollouts of each row that run at the same time. */
const SESSIONS_PER_ROW = 3;

export const isolationCheck: Check = {
  name: "sessions-isolated",
  title: "Rollouts that run at the same time do not see one another",
  async run(audit) {
    const { settings } = audit;
    const work = [...audit.rows.entries()].flatMap(([index, row]) => {
      const attempts: Attempt[] = [...telltaleAttempts(audit, index)];
      for (let session = 0; session < SESSIONS_PER_ROW && settings.call_tools; session++) {
        if (toolsOf(row).length > 0) attempts.push(randomToolAttempt(row, `session ${index} ${session}`));
      }
      const [gold] = goldAttempts(row, index, settings.gold);
      if (gold !== undefined) attempts.push(gold);
      return attempts.map((attempt) => ({ index, attempt }));
    });
    const alone = [];
    for (const { index, attempt } of work) alone.push(await audit.rollout(index, attempt));
    const together = await audit.withServer("reject", (server) =>
      Promise.all(work.map(({ index, attempt }) => audit.rollout(index, attempt, { server }))),
    );
    const findings: Finding[] = [];
    for (const [at, { index, attempt }] of work.entries()) {
      const [first, second] = [alone[at], together[at]];
      const difference = first && second && differenceOf(first, second, audit);
      if (second === undefined || difference === undefined) continue;
      findings.push(
        findingOf(
          `Beside ${work.length - 1} others the result differs: ${difference}.`,
          index,
          attempt,
          second,
        ),
      );
    }
    return { findings, note: `${work.length} sessions at once` };
  },
};
