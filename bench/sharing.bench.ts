import { setImmediate as nextTurn } from "node:timers/promises";
import { AdaptiveLimit, type CallLimit } from "../src/model-endpoint/adaptive-limit.ts";
import { Coordinator } from "../src/model-endpoint/shared/coordinator.ts";
import { RunConnection } from "../src/model-endpoint/shared/run-connection.ts";
import type { Report } from "./report.ts";

export const name = "sharing";

const CALLS = 100_000;
const CONTENDED_CALLS = 4_000;
const PROCESSES = 4;
/** Calls that run at once in one process. */
const AT_ONCE = 64;
const BUDGET_MICROSECONDS = 5;
const CONTENDED_BUDGET_MICROSECONDS = 100;

/** What it costs a call that all processes of a run share one limit; both ends of the socket are in this process. */
export async function run(report: Report): Promise<void> {
  const coordinator = await Coordinator.listen({});
  const connections: RunConnection[] = [];
  // The sockets of a run keep no process alive.
  const alive = setInterval(() => {}, 60_000);
  try {
    for (let index = 0; index < PROCESSES; index++) {
      const connection = await RunConnection.open(coordinator.socketPath);
      if (connection) connections.push(connection);
    }
    const limits = connections.map((connection) => connection.limit("http://endpoint/v1 m bench"));
    await Promise.all(limits.map(({ joined }) => joined));
    const own = await measure(report, "a limit of one process", [new AdaptiveLimit()], CALLS);
    const shared = await measure(report, `a limit of ${PROCESSES} processes with room`, limits, CALLS);
    for (const limit of limits) await refuse(limit);
    const tight = await measure(report, "the same, refused before and fully used", limits, CONTENDED_CALLS);
    report.check(
      `sharing a limit costs a call ${(shared - own).toFixed(1)} µs CPU while there is room (budget ${BUDGET_MICROSECONDS})`,
      shared - own <= BUDGET_MICROSECONDS,
    );
    report.check(
      `and ${(tight - own).toFixed(1)} µs when processes wait for each other's places (budget ${CONTENDED_BUDGET_MICROSECONDS})`,
      tight - own <= CONTENDED_BUDGET_MICROSECONDS,
    );
  } finally {
    for (const connection of connections) connection.close();
    coordinator.close();
    clearInterval(alive);
  }
}

/** Many at once are refused, so that the limit becomes one that is felt. */
async function refuse(limit: CallLimit): Promise<void> {
  const slots = Array.from({ length: AT_ONCE / 4 }, () => limit.tryEnter());
  await nextTurn();
  for (const slot of slots) if (slot) limit.leave(slot, { kind: "rate-limited", pauseMs: 0 });
}

/** CPU microseconds per call, when each call takes one turn of the event loop. */
async function measure(
  report: Report,
  label: string,
  limits: readonly CallLimit[],
  calls: number,
): Promise<number> {
  let left = calls;
  const worker = async (limit: CallLimit) => {
    while (left-- > 0) {
      const slot = limit.tryEnter() ?? (await limit.enter(undefined, Number.POSITIVE_INFINITY));
      await nextTurn();
      if (slot) limit.leave(slot, { kind: "success", outputTokens: 100 });
    }
  };
  const before = process.cpuUsage();
  const each = AT_ONCE / limits.length;
  await Promise.all(limits.flatMap((limit) => Array.from({ length: each }, () => worker(limit))));
  const { user, system } = process.cpuUsage(before);
  const microseconds = (user + system) / calls;
  report.add({ label, cpuMs: microseconds / 1000, operations: calls });
  return microseconds;
}
