/**
 * What a server file exports: data and functions, no web framework. The host decides where a definition runs
 * (co-hosted, in its own process, in several workers), which makes no difference to the definition.
 *
 * @module
 */
import type { z } from "zod";
import type { ServerContext } from "../calls/server-client.ts";
import type { JsonObject } from "../python/json/json-object.ts";
import type { Response, ResponseCreateParams } from "../wire/schemas/responses.ts";
import type { HandlerScope, Infer, MaybePromise } from "./definitions.ts";

/** Arguments of handlers, with the value that `start` returned. */
interface StatefulScope<Config, State> extends HandlerScope<Config> {
  /** What `start` returned. Absent in a verifier that runs in the pool. */
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
  /** `false` keeps the route off MCP. */
  expose?: boolean;
  /** Gets the arguments and returns any JSON value. Text is sent as a JSON string. */
  run(args: SessionScope<Config, Session, State> & { input: Input }): unknown;
}

/** Answers every `POST /<name>` that no tool is declared for. */
export interface FallbackTool<Config, Session, State = undefined> {
  run(args: SessionScope<Config, Session, State> & { name: string; input: unknown }): unknown;
  /** The tools behind it, for MCP clients. */
  list?(config: Config): { name: string; description?: string; inputSchema: JsonObject }[];
}

export interface VerifyArgs<Config, Row, Session, State = undefined>
  extends SessionScope<Config, Session, State> {
  /** The row, parsed by the `row` schema. */
  row: Row;
  response: Response;
  params: ResponseCreateParams;
  /** The request body as it came, unknown fields included. */
  body: JsonObject;
  /** Whether the session had state before this call; false: `session` was made for it just now. */
  seeded: boolean;
}

/** `reward` (true is 1, false is 0) and whatever else the verifier wants to report; every key ends up in the result row. */
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
   * Schema of the row when a rollout starts, where it differs from `row`: what `session` reads, and fields that a task needs
   * although `verify` accepts rows that lack it. Both are checked before the first model call.
   */
  seed?: SeedSchema;
  /** Schema of the row fields `verify` reads. A plain `z.object` drops other fields from the result, `z.looseObject` keeps them. */
  row?: RowSchema;
  /**
   * Runs once before the server accepts requests. What it returns is the `state` of the handlers (loaded data, a judge); write it in
   * front of those that use it, so that its type is known there.
   */
  start?(server: ServerContext<Infer<ConfigSchema>>): MaybePromise<State>;
  /** Makes the state of one rollout from its row. */
  session?(
    args: StatefulScope<Infer<ConfigSchema>, NoInfer<State>> & {
      row: z.ZodType extends SeedSchema ? Infer<RowSchema> : Infer<SeedSchema>;
      sessionId: string;
    },
  ): MaybePromise<Session>;
  /** `keep`: seeding a session again leaves its state as it is; default: it starts again. */
  reseed?: "replace" | "keep";
  /** State for calls that were never seeded; without it such tool calls are refused with 409. */
  unseeded?(
    args: StatefulScope<Infer<ConfigSchema>, NoInfer<State>> & { sessionId: string },
  ): MaybePromise<Session>;
  /** Runs once when a session ends: expired, evicted or the server stops. */
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
  /** Row fields the result repeats; default: all that `row` declares. */
  echo?: readonly (keyof Infer<RowSchema> & string)[];
  /** `pool`: verify is CPU work and runs in a worker; it then gets plain data only (no `server`, no `state`, no live session objects). */
  verifyIn?: "loop" | "pool";
  metrics?: MetricsHooks | ((config: Infer<ConfigSchema>) => MetricsHooks);
  /** Whether stored rollouts may be scored again without their session. */
  reverifyMode?: "stateless" | "unsupported" | "unknown";
  /** Which tools an MCP client of this session may call; default: all. */
  allowedTools?(body: JsonObject): readonly string[] | null;
  stop?(server: ServerContext<Infer<ConfigSchema>>, state: NoInfer<State>): MaybePromise<void>;
}

// Inside the host the generics are erased: everything a definition gets was parsed by its own schemas before.
// biome-ignore lint/suspicious/noExplicitAny: the erased form of a definition accepts every instantiation
type Erased = any;

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
  /** What a row must have besides; checked before a run begins. */
  seed?: z.ZodType;
  /** Runs once before the server accepts requests; what it returns is the `state` of the handlers after it. */
  start?(server: ServerContext<Infer<ConfigSchema>>): MaybePromise<State>;
  /** Starts an episode: its state, and what the environment says first. */
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
  /** Keep the state of an episode that has ended: further steps go on with it. */
  keepFinished?: boolean;
  /** State for a step that was never reset; without it such a step is refused with 409. */
  unseeded?(
    args: StatefulScope<Infer<ConfigSchema>, NoInfer<State>> & { sessionId: string },
  ): MaybePromise<Session>;
  /** Frees what an episode holds; with it the server has a `/close` route. */
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
