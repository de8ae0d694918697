import { z } from "zod";
import type { ServerContext } from "../../calls/server-client.ts";
import { isObserved } from "../../capture/settings.ts";
import { TrajectoryRecorder } from "../../capture/trajectory-recorder.ts";
import { callLimits, loopAgentConfig } from "../../definitions/agent-config.ts";
import { inputItems } from "../../definitions/call-model.ts";
import { type AgentDefinition, defineAgent, type RolloutScope } from "../../definitions/define-agent.ts";
import type { JsonObject } from "../../python/json/json-object.ts";
import { convertResponsesToChat } from "../../wire/convert/convert-responses-to-chat.ts";
import type { ChatMessage } from "../../wire/schemas/chat-types.ts";
import { laxInt } from "../../wire/schemas/lax.ts";
import type { Response, ResponseCreateParams, ResponseOutputItem } from "../../wire/schemas/responses.ts";
import { DEFAULT_MODEL, messageOf, responseOf, takeRolloutUsage } from "../response-of.ts";
import { type GymTool, gymTools } from "./gym-tools.ts";
import { LoopRecord } from "./loop-record.ts";
import { type ModelAccess, modelAccess, StepLimitError } from "./model-access.ts";

/** The default limit on model calls of a loop. */
const DEFAULT_MAX_STEPS = 50;

/** Config keys of every agent around a framework. */
export const frameworkAgentConfig = loopAgentConfig.extend({
  /** Model calls per rollout; null: as many as it takes. */
  max_steps: laxInt().nullable().default(DEFAULT_MAX_STEPS),
  /** The model's name in the requests; model servers replace it by their own. */
  model: z.string().nullish(),
});

/** One rollout, as the author of an agent sees it. */
export interface FrameworkRun<Config> {
  /** The request: `input`, `tools`, `instructions`, sampling settings. */
  params: ResponseCreateParams;
  /** Its conversation as chat messages, which most frameworks read. */
  messages: ChatMessage[];
  /** The tools of the resources server. */
  tools: GymTool[];
  model: ModelAccess;
  config: Config;
  server: ServerContext<Config>;
  rollout: RolloutScope;
  signal: AbortSignal;
}

/** What an agent returns: nothing, its final answer, or all items where the recorded ones do not tell what happened. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement is welcome
export type FrameworkResult = string | readonly ResponseOutputItem[] | undefined | void;

export interface FrameworkAgentOptions<ConfigSchema extends typeof frameworkAgentConfig> {
  name: string;
  config?: ConfigSchema;
  /** Answers a request with the framework. Throw `IncompleteRun` where the framework gives up on the model's answers. */
  respond(run: FrameworkRun<z.output<ConfigSchema>>): Promise<FrameworkResult>;
}

/** The loop ended without an answer, for a reason that is the model's: the rollout is scored as it is. */
export class IncompleteRun extends Error {
  readonly reason: string;

  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.reason = reason;
  }
}

/**
 * Defines an agent server around a framework that runs in this process. The framework gets a model client's settings and callable
 * tools; items, usage and trajectory come from watching the two.
 *
 * @example
 * export default defineFrameworkAgent({
 *   name: "MyAgent",
 *   async respond({ messages, tools, model, signal }) { … return answer; },
 * });
 */
export function defineFrameworkAgent<ConfigSchema extends typeof frameworkAgentConfig>(
  options: FrameworkAgentOptions<ConfigSchema>,
): AgentDefinition {
  type Config = z.output<ConfigSchema>;
  return defineAgent({
    name: options.name,
    config: options.config ?? frameworkAgentConfig,
    async responses({ params, cookies, config, server, rollout, signal }) {
      const { client, globalConfig } = server;
      const observed = isObserved(globalConfig) && rollout.prefix !== "";
      const trajectory = observed ? new TrajectoryRecorder() : undefined;
      const limits = callLimits(globalConfig);
      const modelServer = config.model_server.name;
      const session = { cookies };
      const record = new LoopRecord(modelServer, {
        trajectory,
        onItems: (items) => rollout.onOutput?.(items, session.cookies),
      });
      const model = config.model ?? params.model ?? DEFAULT_MODEL;
      const countedUsage = () => takeRolloutUsage(client, modelServer, rollout, signal);
      // What an earlier attempt left behind does not count.
      await countedUsage();
      const outcome = await settled(record, () =>
        options.respond({
          params,
          messages: convertResponsesToChat({ ...params, model }).messages,
          tools: gymTools(params, {
            client,
            resourcesServer: config.resources_server.name,
            rollout,
            signal,
            timeoutMs: limits.toolCallMs,
            recorder: trajectory,
            tools: params.tools,
            session,
            record,
          }),
          model: modelAccess({
            client,
            modelServer,
            model,
            rollout,
            params,
            signal,
            timeoutMs: limits.modelCallMs,
            maxSteps: config.max_steps,
            record,
          }),
          config: config as Config,
          server: server as unknown as ServerContext<Config>,
          rollout,
          signal,
        }),
      );
      // Some clients take an address but no fetch: only the model server has seen their calls.
      const usage = (await countedUsage()) ?? record.usage;
      const { incompleteReason } = outcome;
      const response = responseOf(outcome.items, { params, model, usage, incompleteReason });
      const status = incompleteReason === undefined ? "completed" : "incomplete";
      return {
        response: {
          ...response,
          ...(trajectory && { _ng_trajectory: trajectory.finish(response, inputItems(params), status) }),
        } as Response & JsonObject,
        cookies: session.cookies,
      };
    },
  });
}

/** Runs the loop to its end; a model call that failed is the cause of whatever the framework made of it. */
async function settled(
  record: LoopRecord,
  respond: () => Promise<FrameworkResult>,
): Promise<{ items: readonly ResponseOutputItem[]; incompleteReason?: string | undefined }> {
  let result: FrameworkResult;
  let thrown: unknown;
  try {
    result = await respond();
  } catch (error) {
    thrown = error ?? new Error("the agent threw nothing");
  }
  if (record.failure instanceof StepLimitError) return { items: record.items, incompleteReason: "max_steps" };
  if (record.failure !== undefined) throw record.failure;
  if (thrown instanceof IncompleteRun) return { items: record.items, incompleteReason: thrown.reason };
  if (thrown !== undefined) throw thrown;
  return { items: itemsOf(result, record), incompleteReason: record.incompleteReason };
}

function itemsOf(result: FrameworkResult, record: LoopRecord): readonly ResponseOutputItem[] {
  if (typeof result === "object") return result;
  const { items } = record;
  if (result === undefined || textOf(items.at(-1)) === result) return items;
  return [...items, messageOf(result)];
}

function textOf(item: ResponseOutputItem | undefined): string | undefined {
  if (item?.type !== "message") return undefined;
  const { content } = item;
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : "")).join("");
}
