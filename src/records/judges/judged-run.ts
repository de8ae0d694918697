import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import path from "node:path";
import { isTruthy } from "../../base/python/door.ts";
import { dumps, isObject } from "../../base/python/json/door.ts";
import { invalidRow, RolloutError } from "../errors.ts";
import { type Row, readRows } from "../files/jsonl-rows.ts";
import { agentNameOf } from "../files/row-fields.ts";
import { requireKey } from "../files/row-key.ts";
import { RolloutKeyMap } from "../metrics/rollout-key-map.ts";
import { PACKED_SUFFIX } from "../packed/run-file.ts";
import { rewardOfRow } from "../results/export/export-selection.ts";
import { taskPromptOf } from "../results/run-tasks.ts";

/** Who judged, and how: verdicts of another model, with another prompt or read by other code, are those of another judge. */
export interface JudgeIdentity {
  /** Names that the model server gave, sorted; null where it gave none. */
  models: (string | null)[];
  prompt: string | null;
  parser: string | null;
}

/** How the votes about a rollout went: `none` if no judge was asked, `single` if nothing was asked several times. */
export type Votes = "split" | "unanimous" | "single" | "none";

export interface JudgedRollout {
  task: number;
  rollout: number;
  /** Where its row begins in the file. */
  offset: number;
  reward: number;
  votes: Votes;
  /** Of the task and the answer. Labels name it, so that they are never counted for another rollout. */
  digest: string;
}

/** The scored rollouts of an agent whose environment asks a judge. */
export interface JudgedAgent {
  agent: string;
  environment: string | null;
  judges: JudgeIdentity[];
  rollouts: JudgedRollout[];
}

/** The scored rollouts of the agents of a run whose environment asks a judge. A directory means its `rollouts.jsonl`. */
export async function readJudgedRun(
  given: string,
  options: { signal?: AbortSignal; digests?: boolean } = {},
): Promise<{ path: string; agents: JudgedAgent[] }> {
  const isDirectory = (await stat(given).catch(() => undefined))?.isDirectory() ?? false;
  const file = isDirectory || given.endsWith(PACKED_SUFFIX) ? path.join(given, "rollouts.jsonl") : given;
  const agents = new Map<string, JudgedAgent>();
  const identities = new Map<string, Map<string, JudgeIdentity>>();
  const seen = new RolloutKeyMap();
  let rows = 0;
  for await (const { row, line } of readRows(file, { signal: options.signal, onTornLine: () => {} })) {
    rows++;
    const { taskIndex, rolloutIndex } = requireKey(row, file, line);
    if (seen.has(taskIndex, rolloutIndex))
      throw invalidRow(file, line, `rollout ${rolloutIndex} of task ${taskIndex} occurs twice.`);
    seen.set(taskIndex, rolloutIndex, 0);
    const name = agentNameOf(row) ?? "";
    const agent = agents.get(name) ?? { agent: name, environment: null, judges: [], rollouts: [] };
    agents.set(name, agent);
    const judged = isObject(row["_ng_judge"]) ? row["_ng_judge"] : undefined;
    if (judged) addTo(identities, name, judgeOfRow(judged));
    const environment = row["_ng_environment_server"];
    if (typeof environment === "string") agent.environment = environment;
    const reward = rewardOfRow(row);
    if (reward === undefined || isTruthy(row["mask_sample"])) continue;
    agent.rollouts.push({
      task: taskIndex,
      rollout: rolloutIndex,
      offset: line.offset,
      reward,
      votes: votesOf(judged),
      digest: options.digests ? digestOfRollout(row) : "",
    });
  }
  if (rows === 0) throw new RolloutError("ROLLOUT_NOT_JUDGED", `'${file}' has no rollouts.`);
  for (const [name, agent] of agents) agent.judges = [...(identities.get(name)?.values() ?? [])];
  return { path: file, agents: [...agents.values()].filter(({ judges }) => judges.length > 0) };
}

/** Of the prompt and the output: what a person sees, whatever the score is. */
export function digestOfRollout(row: Row): string {
  const response = isObject(row["response"]) ? row["response"] : {};
  const content = { prompt: taskPromptOf(row) ?? null, output: response["output"] ?? null };
  return createHash("sha256")
    .update(dumps(content, { sortKeys: true }))
    .digest("hex")
    .slice(0, 16);
}

/** The identity in `_ng_judge` of a row. */
export function judgeOfRow(judged: Row): JudgeIdentity {
  const judges = Array.isArray(judged["judges"]) ? judged["judges"].filter(isObject) : [];
  const models = judges.map(({ model }) => (typeof model === "string" ? model : null));
  const text = (name: string) => (typeof judged[name] === "string" ? judged[name] : null);
  return { models: sorted(models), prompt: text("prompt"), parser: text("parser") };
}

/** Joins the models of several rows: an environment may ask one of several judges. */
function addTo(
  identities: Map<string, Map<string, JudgeIdentity>>,
  agent: string,
  { models, prompt, parser }: JudgeIdentity,
): void {
  const own = identities.get(agent) ?? new Map<string, JudgeIdentity>();
  identities.set(agent, own);
  const key = `${prompt} ${parser}`;
  const known = own.get(key);
  own.set(key, { models: sorted([...(known?.models ?? []), ...models]), prompt, parser });
}

function sorted(models: readonly (string | null)[]): (string | null)[] {
  return [...new Set(models)].sort((a, b) => String(a).localeCompare(String(b)));
}

function votesOf(judged: Row | undefined): Votes {
  if (!judged) return "none";
  const votes = Array.isArray(judged["votes"]) ? judged["votes"].filter(Array.isArray) : [];
  if (votes.length === 0) return "single";
  return votes.some((verdicts) => new Set(verdicts).size > 1) ? "split" : "unanimous";
}
