import { createHash } from "node:crypto";

/** A reference to a rollout in messages: its position, never its content. */
export interface RolloutRef {
  run: string;
  agent: string;
  task: number;
  rollout: number;
  attempt: number;
  /** Byte offset of its row in the materialized inputs. */
  at: number;
  /** The `traceparent` of the collector. */
  trace?: string;
}

const STREAM_PREFIX = "gym-";

export const streamOf = (run: string): string => `${STREAM_PREFIX}${run}`;

/**
 * An agent's name as a subject token and consumer name; names with other characters get a digest, so that they remain
 * distinct.
 */
export function agentToken(agent: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(agent)) return agent;
  const digest = createHash("sha256").update(agent).digest("hex").slice(0, 8);
  return `${agent.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 48)}-${digest}`;
}

/** The same for the suspects of an agent. Tokens of agents do not contain the first character. */
export const suspectToken = (agent: string): string => `~${agentToken(agent)}`;

/** One subject per attempt, so that the stream holds each attempt at most once. */
export const subjectOf = (ref: RolloutRef): string => subjectWith(agentToken(ref.agent), ref);

/** The subject of an attempt that may end workers. */
export const suspectSubjectOf = (ref: RolloutRef): string => subjectWith(suspectToken(ref.agent), ref);

function subjectWith(token: string, { run, task, rollout, attempt }: RolloutRef): string {
  return `gym.run.${run}.${token}.${task}.${rollout}.${attempt}`;
}

/** The data of a message beyond its subject. */
export function payloadOf({ agent, at, trace }: RolloutRef): string {
  return JSON.stringify({ agent, at, trace });
}

export function readRolloutRef(run: string, message: { subject: string; json<T>(): T }): RolloutRef {
  const { agent, at, trace } = message.json<{ agent: string; at: number; trace?: string }>();
  const [task = 0, rollout = 0, attempt = 0] = message.subject.split(".").slice(-3).map(Number);
  return { run, agent, task, rollout, attempt, at, trace };
}

export const subjectsOfToken = (run: string, token: string): string => `gym.run.${run}.${token}.>`;

export const subjectsOfRun = (run: string): string => `gym.run.${run}.>`;
