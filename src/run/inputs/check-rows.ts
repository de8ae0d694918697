import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { RolloutError } from "../../records/errors.ts";
import { agentNameOf } from "../../records/files/door.ts";
import type { ServerClient, ServerReply } from "../../servers/calls/door.ts";
import type { PendingRow } from "../resume/resume.ts";
import { type ExpandOptions, expandRows } from "./expand.ts";
import { TaskNumberMap } from "./task-number-map.ts";

/** Rows per request to an agent. */
const BATCH_ROWS = 16;
/** Maximum number of tasks that the error names. */
const MAX_NAMED = 10;

interface CheckOptions {
  client: Pick<ServerClient, "post">;
  /** The options with which the rows were expanded, to find their lines. */
  expand: ExpandOptions;
  onNotice: (text: string) => void;
  signal?: AbortSignal;
}

type Task = Pick<PendingRow, "taskIndex" | "row">;

/**
 * Asks the servers whether they can run and score these rows. If not, rejects the run before the first model call, with
 * all problems. Agents without this check (those in Python) are skipped.
 */
export async function checkRows(rows: AsyncIterable<Task>, options: CheckOptions): Promise<void> {
  const problems = new Map<number, readonly string[]>();
  const unaskable = new Set<string>();
  const batches = new Map<string, Task[]>();
  let tasks = 0;
  const seen = new TaskNumberMap();
  const send = async (agent: string, batch: readonly Task[]) => {
    const found = await askAgent(agent, batch, options);
    if (found === undefined) unaskable.add(agent);
    else for (const [taskIndex, texts] of found) problems.set(taskIndex, texts);
  };
  for await (const { taskIndex, row } of rows) {
    const agent = agentNameOf(row);
    // The repeats of a task differ only in their seed.
    if (agent === undefined || seen.get(taskIndex) !== undefined) continue;
    seen.set(taskIndex, 1);
    tasks++;
    if (unaskable.has(agent)) {
      if (options.expand.knownAgents?.every((name) => unaskable.has(name))) return;
      continue;
    }
    const batch = batches.get(agent) ?? [];
    batches.set(agent, batch);
    batch.push({ taskIndex, row });
    // The first row is sent alone, to find out whether the agent has this check.
    if (batch.length >= BATCH_ROWS || tasks === 1) await send(agent, batch.splice(0));
  }
  for (const [agent, batch] of batches)
    if (batch.length > 0 && !unaskable.has(agent)) await send(agent, batch);
  if (problems.size > 0) throw await rejection(problems, tasks, options.expand);
}

/** Problems by task; undefined when the agent has no check, cannot be reached or answers with an error. */
async function askAgent(
  agent: string,
  batch: readonly Task[],
  { client, onNotice, signal }: CheckOptions,
): Promise<[taskIndex: number, problems: readonly string[]][] | undefined> {
  const body = { rows: batch.map(({ row }) => row) };
  let reply: ServerReply;
  try {
    reply = await client.post(agent, "/check_rows", body, { idempotent: true, signal });
  } catch (error) {
    signal?.throwIfAborted();
    // An unreachable server may be back for the rollouts, which are retried.
    onNotice(`The rows of '${agent}' are not checked: ${errorMessage(error)}`);
    return undefined;
  }
  if (!reply.ok) {
    if (reply.status !== 404 && reply.status !== 405)
      onNotice(`The rows of '${agent}' are not checked: POST /check_rows answered ${reply.status}.`);
    return undefined;
  }
  const problems = problemsOf(reply);
  if (problems === undefined) {
    onNotice(`The rows of '${agent}' are not checked: POST /check_rows answered without a list 'problems'.`);
    return undefined;
  }
  return problems.flatMap(({ index, problems: texts }) => {
    const task = batch[index];
    return task === undefined ? [] : [[task.taskIndex, texts] as [number, string[]]];
  });
}

/** Servers in other languages may answer 200 to any route. */
function problemsOf(reply: ServerReply): { index: number; problems: string[] }[] | undefined {
  const Reply = z.object({ problems: z.array(z.object({ index: z.int(), problems: z.array(z.string()) })) });
  try {
    return Reply.safeParse(reply.json()).data?.problems;
  } catch {
    // The reply is not JSON.
    return undefined;
  }
}

async function rejection(
  problems: ReadonlyMap<number, readonly string[]>,
  tasks: number,
  expand: ExpandOptions,
): Promise<RolloutError> {
  const lines = await linesOf([...problems.keys()].slice(0, MAX_NAMED), expand);
  const named = [...problems].slice(0, MAX_NAMED).map(([taskIndex, texts]) => {
    const line = lines.get(taskIndex);
    return `  - ${line === undefined ? `task ${taskIndex}` : `${expand.inputPath}:${line}`}: ${texts.join("; ")}`;
  });
  if (problems.size > MAX_NAMED) named.push(`  … and ${problems.size - MAX_NAMED} more`);
  return new RolloutError(
    "ROLLOUT_ROWS_REFUSED",
    `${problems.size} of ${tasks} ${tasks === 1 ? "task does" : "tasks do"} not fit the environment; no model was called:\n${named.join("\n")}\n` +
      "Correct the rows (`gym env schema` and `gym env tools` show the allowed fields and tools), or skip this check with ++check_rows=false.",
  );
}

/** The input line of each task. The file is read again, because only rejected runs need the lines. */
async function linesOf(tasks: readonly number[], expand: ExpandOptions): Promise<Map<number, number>> {
  const lines = new Map<number, number>();
  for await (const { taskIndex, lineNumber } of expandRows(expand)) {
    if (tasks.includes(taskIndex) && !lines.has(taskIndex)) lines.set(taskIndex, lineNumber);
    if (lines.size === tasks.length) break;
  }
  return lines;
}
