import { z } from "zod";

/** Names of tool accesses and ids of rollouts. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
/** The end of a capture key with an attempt; an id with it could not be told from another rollout's retry. */
const ATTEMPT_SUFFIX = /-a[1-9]\d*$/;

const filled = z.string().min(1);

/** Which attempt of which rollout a call belongs to. */
export const episodeId = z.strictObject({
  rollout_id: z
    .string()
    .regex(NAME, "letters, digits, '.', '_' and '-', starting with a letter or digit")
    .refine((id) => !ATTEMPT_SUFFIX.test(id), "must not end like the number of an attempt (-a1)"),
  attempt: z.int().min(0).default(0),
});
export type EpisodeId = z.output<typeof episodeId>;

export const taskId = z.strictObject({ taskset: filled, task_id: filled });
export type TaskId = z.output<typeof taskId>;

const anyObject = z.record(z.string(), z.unknown());
const texts = z.record(z.string(), z.string());

/** `POST /run` of an environment server that runs typed episodes. */
export const episodeRequest = z.strictObject({
  episode_id: episodeId,
  task: z.strictObject({ task_id: taskId, task_input: anyObject }),
});
export type EpisodeRequest = z.output<typeof episodeRequest>;

const directHttp = z.strictObject({
  kind: z.literal("direct_http"),
  name: z.string().regex(NAME),
  required: z.boolean().default(true),
  base_url: z.string(),
  cookies: texts.default({}),
  headers: texts.default({}),
});
export type DirectHttpAccess = z.output<typeof directHttp>;

const mcp = z.strictObject({
  kind: z.literal("mcp"),
  name: z.string().regex(NAME),
  required: z.boolean().default(true),
  connection: z.strictObject({
    transport: z.literal("streamable_http"),
    url: z.string(),
    headers: texts.default({}),
  }),
});

/** How an agent reaches the tools of an environment. */
export const toolAccess = z.discriminatedUnion("kind", [directHttp, mcp]);
export type ToolAccess = z.output<typeof toolAccess>;

export const toolAccesses = z
  .array(toolAccess)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, "names must be unique");

export const sandboxAccess = z.strictObject({
  connection: z.strictObject({
    kind: z.literal("direct"),
    provider_config_ref: z.string(),
    descriptor: anyObject,
  }),
  workdir: z.string().nullish(),
});

/** `POST /v1/agent_sessions`. */
export const agentSeed = z.strictObject({
  agent_session_id: filled,
  episode_id: episodeId,
  task_id: taskId,
  tool_accesses: toolAccesses.default([]),
  sandbox_access: sandboxAccess.nullish(),
});
export type AgentSeed = z.output<typeof agentSeed>;

/** `POST /v1/agent_sessions/close`. */
export const agentClose = z.strictObject({ agent_session_id: filled, episode_id: episodeId });

export const agentCloseReply = z.looseObject({
  agent_session_id: z.string(),
  agent_observations: z.unknown(),
  resources_cookies: texts.nullish(),
});

/** `POST /seed_session` of a typed episode; any other body is a row. */
export const resourcesSeed = z.strictObject({
  resources_session_id: filled,
  episode_id: episodeId,
  task_id: taskId,
  task_data: anyObject,
});
export type ResourcesSeed = z.output<typeof resourcesSeed>;

export const resourcesTools = z.looseObject({
  server_name: z.string(),
  url_path: z.string(),
  transport: z.string(),
  headers: texts.default({}),
});

export const resourcesSeedReply = z.strictObject({
  resources_session_id: z.string(),
  resources_tools: resourcesTools.nullish(),
  sandbox_access: sandboxAccess.nullish(),
});

/** `POST /close_session`. */
export const resourcesClose = z.strictObject({ resources_session_id: filled, episode_id: episodeId });

/** The id under which the calls of an attempt are recorded. */
export function captureKey({ rollout_id, attempt }: EpisodeId): string {
  return attempt > 0 ? `${rollout_id}-a${attempt}` : rollout_id;
}

/** The stages of an episode in which it can fail. */
export type EpisodeStage = "admission" | "seed" | "agent" | "verification" | "cleanup";

/** Why an episode has no result. */
export interface EpisodeFailure {
  failure_reason: string;
  /** Whether another attempt would fail too. */
  terminal: boolean;
  failure_kind?: string;
  stage?: EpisodeStage;
  partial_response?: unknown;
}

export interface EpisodeReply {
  episode_id: EpisodeId;
  task_id: TaskId;
  result: Record<string, unknown> | null;
  failure: EpisodeFailure | null;
}
