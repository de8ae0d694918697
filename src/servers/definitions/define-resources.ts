/**
 * Definitions that a server file exports: data and functions, without a web framework. The host decides where a
 * definition runs (co-hosted, in its own process, in several workers). The definition does not depend on that.
 *
 * @module
 */
import type { z } from "zod";
import type { JsonObject } from "../../base/python/json/door.ts";
import type { Response, ResponseCreateParams } from "../../wire/schemas/door.ts";
import type { ServerContext } from "../calls/server-client.ts";
import type { Erased, HandlerScope, Infer, MaybePromise } from "./definitions.ts";

/** Arguments of handlers, including the value that `start` returned. */
interface StatefulScope<Config, State> extends HandlerScope<Config> {
  /** The value that `start` returned. Absent in a verifier that runs in the pool. */
  state: State;
}

export interface SessionScope<Config, Session, State = undefined> extends StatefulScope<Config, State> {
  session: Session;
  sessionId: string;
}

export interface ToolDefinition<Input, Config, Session, State = undefined> {
  description?: string;
  /** Schema of the arguments; absent: any JSON object. Also the schema shown to MCP clients. */
  input?: z.ZodType<Input>;
  /** `false` hides the route from MCP clients. */
  expose?: boolean;
  /** Receives the arguments and returns any JSON value. Text is sent as a JSON string. */
  run(args: SessionScope<Config, Session, State> & { input: Input }): unknown;
}

/** Answers every `POST /<name>` without a declared tool. */
export interface FallbackTool<Config, Session, State = undefined> {
  run(args: SessionScope<Config, Session, State> & { name: string; input: unknown }): unknown;
  /** The tools it serves, for MCP clients. */
  list?(config: Config): { name: string; description?: string; inputSchema: JsonObject }[];
}

export interface VerifyArgs<Config, Row, Session, State = undefined>
  extends SessionScope<Config, Session, State> {
  /** The row, parsed by the `row` schema. */
  row: Row;
  response: Response;
  params: ResponseCreateParams;
  /** The request body as received, including unknown fields. */
  body: JsonObject;
  /** Whether the session had state before this call. False: `session` was just created for it. */
  seeded: boolean;
}

/** `reward` (true is 1, false is 0) and any other values to report. Every key is copied to the result row. */
export type VerifyResult = { reward: number | boolean } & JsonObject;

export interface MetricsHooks {
  /** Further metrics from the rows grouped by task; `per_task_metrics` goes into the task's own record. */
  compute?(tasks: JsonObject[][]): JsonObject;
  /** Picks the headline metrics; default: every `mean/…`. */
  key?(agentMetrics: JsonObject): JsonObject;
}

export interface ResourcesServerOptions<
  ConfigSchema extends z.ZodType,
  SeedSchema extends z.ZodType,
  RowSchema extends z.ZodType,
  Session,
  Tools extends object,
  State,
> {
  /** Class-like name used in the session cookie; default: made from the folder name. */
  name?: string;
  /** Schema of the server's own config keys; unknown keys are allowed and ignored. */
  config?: ConfigSchema;
  /**
   * Schema of the row when a rollout starts, if it differs from `row`: the fields that `session` reads, and fields that
   * a task requires although `verify` accepts rows without them. Both schemas are checked before the first model call.
   */
  seed?: SeedSchema;
  /** Schema of the row fields `verify` reads. A plain `z.object` drops other fields from the result, `z.looseObject` keeps them. */
  row?: RowSchema;
  /**
   * Runs once before the server accepts requests. Its return value is the `state` of the handlers (loaded data, a
   * judge). Declare it before the handlers that use it, so that TypeScript can infer its type.
   */
  start?(server: ServerContext<Infer<ConfigSchema>>): MaybePromise<State>;
  /** Creates the state of one rollout from its row. */
  session?(
    args: StatefulScope<Infer<ConfigSchema>, NoInfer<State>> & {
      row: z.ZodType extends SeedSchema ? Infer<RowSchema> : Infer<SeedSchema>;
      sessionId: string;
    },
  ): MaybePromise<Session>;
  /** `keep`: seeding a session again leaves its state unchanged. Default: the state is replaced. */
  reseed?: "replace" | "keep";
  /** Binds typed sessions to their episodes although the server has no state of its own. */
  boundSessions?: boolean;
  /** Creates state for calls without a seeded session. Without it such tool calls are rejected with 409. */
  unseeded?(
    args: StatefulScope<Infer<ConfigSchema>, NoInfer<State>> & { sessionId: string },
  ): MaybePromise<Session>;
  /** Runs once when a session ends: it expired, was evicted, or the server stops. */
  closeSession?(args: { session: NoInfer<Session>; sessionId: string }): MaybePromise<void>;
  /** Extra fields of the `/seed_session` reply. */
  seedReply?(
    args: SessionScope<Infer<ConfigSchema>, NoInfer<Session>, NoInfer<State>> & { body: JsonObject },
  ): MaybePromise<JsonObject>;
  tools?: {
    [Name in keyof Tools]: ToolDefinition<Tools[Name], Infer<ConfigSchema>, NoInfer<Session>, NoInfer<State>>;
  };
  fallbackTool?: FallbackTool<Infer<ConfigSchema>, NoInfer<Session>, NoInfer<State>>;
  /** Scores the rollout. A malformed model answer is `{ reward: 0 }`, never an exception. */
  verify(
    args: VerifyArgs<Infer<ConfigSchema>, Infer<RowSchema>, NoInfer<Session>, NoInfer<State>>,
  ): MaybePromise<VerifyResult>;
  /** Row fields that the result repeats; default: all that `row` declares. */
  echo?: readonly (keyof Infer<RowSchema> & string)[];
  /**
   * `pool`: verify is CPU-bound and runs in a worker. It then receives plain data only (no `server`, no `state`, no
   * live session objects).
   */
  verifyIn?: "loop" | "pool";
  metrics?: MetricsHooks | ((config: Infer<ConfigSchema>) => MetricsHooks);
  /** Whether stored rollouts may be scored again without their session. */
  reverifyMode?: "stateless" | "unsupported" | "unknown";
  /**
   * Number of rollouts of one task whose `verify` waits for the others. A run that cannot bring them together is rejected
   * before it starts. Default: each rollout is scored by itself.
   */
  cohort?(config: Infer<ConfigSchema>): number;
  /** Which tools an MCP client of this session may call; default: all. */
  allowedTools?(body: JsonObject): readonly string[] | null;
  stop?(server: ServerContext<Infer<ConfigSchema>>, state: NoInfer<State>): MaybePromise<void>;
}

export interface ResourcesServerDefinition {
  type: "resources_servers";
  kind: "standard";
  options: ResourcesServerOptions<Erased, Erased, Erased, Erased, Erased, Erased>;
}

/**
 * Defines a resources server: tools, per-rollout state and the verifier of an environment.
 *
 * @example
 * export default defineResourcesServer({
 *   row: z.object({ answer: z.string() }),
 *   verify: ({ row, response }) => ({ reward: outputText(response).includes(row.answer) ? 1 : 0 }),
 * });
 */
export function defineResourcesServer<
  ConfigSchema extends z.ZodType = z.ZodType<JsonObject>,
  SeedSchema extends z.ZodType = z.ZodType,
  RowSchema extends z.ZodType = z.ZodType<JsonObject>,
  Session = undefined,
  Tools extends object = Record<never, never>,
  State = undefined,
>(
  options: ResourcesServerOptions<ConfigSchema, SeedSchema, RowSchema, Session, Tools, State>,
): ResourcesServerDefinition {
  return { type: "resources_servers", kind: "standard", options };
}

export interface StepReply {
  observation?: string | null;
  reward?: number;
  terminated?: boolean;
  truncated?: boolean;
  info?: JsonObject;
}

export interface GymnasiumServerOptions<
  ConfigSchema extends z.ZodType,
  RowSchema extends z.ZodType,
  Session,
  State,
> {
  name?: string;
  config?: ConfigSchema;
  /** Schema of the row's own fields (all but `responses_create_params` and `response`). */
  row?: RowSchema;
  /** Schema of further fields that a row must have; checked before a run begins. */
  seed?: z.ZodType;
  /** Runs once before the server accepts requests; its return value is the `state` of the handlers after it. */
  start?(server: ServerContext<Infer<ConfigSchema>>): MaybePromise<State>;
  /** Starts an episode: returns its state and the first observation. */
  reset(
    args: StatefulScope<Infer<ConfigSchema>, NoInfer<State>> & {
      row: Infer<RowSchema>;
      body: JsonObject;
      sessionId: string;
    },
  ): MaybePromise<{ session: Session; observation?: string | null; info?: JsonObject }>;
  /** Answers one model turn. */
  step(
    args: SessionScope<Infer<ConfigSchema>, NoInfer<Session>, NoInfer<State>> & {
      row: Infer<RowSchema>;
      body: JsonObject;
      response: Response;
    },
  ): MaybePromise<StepReply>;
  /** Keeps the state of an episode that has ended, so that further steps continue it. */
  keepFinished?: boolean;
  /** Creates state for a step without a reset. Without it such a step is rejected with 409. */
  unseeded?(
    args: StatefulScope<Infer<ConfigSchema>, NoInfer<State>> & { sessionId: string },
  ): MaybePromise<Session>;
  /** Frees the resources of an episode. Adds a `/close` route to the server. */
  closeSession?(args: { session: NoInfer<Session>; sessionId: string }): MaybePromise<void>;
  metrics?: MetricsHooks | ((config: Infer<ConfigSchema>) => MetricsHooks);
  stop?(server: ServerContext<Infer<ConfigSchema>>, state: NoInfer<State>): MaybePromise<void>;
}

export interface GymnasiumServerDefinition {
  type: "resources_servers";
  kind: "gymnasium";
  options: GymnasiumServerOptions<Erased, Erased, Erased, Erased>;
}

/** Defines a multi-turn environment that answers every model turn (`/reset`, `/step`, `/close`). */
export function defineGymnasiumServer<
  ConfigSchema extends z.ZodType = z.ZodType<JsonObject>,
  RowSchema extends z.ZodType = z.ZodType<JsonObject>,
  Session = undefined,
  State = undefined,
>(options: GymnasiumServerOptions<ConfigSchema, RowSchema, Session, State>): GymnasiumServerDefinition {
  return { type: "resources_servers", kind: "gymnasium", options };
}
