import { z } from "zod";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { convertResponsesToChat } from "../../../wire/convert/door.ts";
import { textParts } from "../../../wire/door.ts";
import type {
  ChatMessage,
  Response,
  ResponseCreateParams,
  ResponseOutputItem,
} from "../../../wire/schemas/door.ts";
import { laxInt } from "../../../wire/schemas/lax.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import { TrajectoryRecorder } from "../../capture/trajectory-recorder.ts";
import { callLimits, loopAgentConfig } from "../../definitions/agent-config.ts";
import { inputItems } from "../../definitions/call-model.ts";
import { type AgentDefinition, defineAgent, type RolloutScope } from "../../definitions/define-agent.ts";
import { DEFAULT_MODEL, messageOf, responseOf, takeRolloutUsage } from "../response-of.ts";
import { type GymTool, gymTools } from "./gym-tools.ts";
import { LoopRecord } from "./loop-record.ts";
import { type ModelAccess, modelAccess, StepLimitError } from "./model-access.ts";

/** Default limit on the model calls of a rollout. */
const DEFAULT_MAX_STEPS = 50;

/** Config keys of every agent that uses a framework. */
export const frameworkAgentConfig = loopAgentConfig.extend({
  /** Maximum number of model calls per rollout; null: no limit. */
  max_steps: laxInt().nullable().default(DEFAULT_MAX_STEPS),
  /** The model name in the requests. Model servers replace it with their own. */
  model: z.string().nullish(),
});

/** One rollout, for the author of an agent. */
export interface FrameworkRun<Config> {
  /** The request: `input`, `tools`, `instructions`, sampling settings. */
  params: ResponseCreateParams;
  /** The conversation of the request as chat messages, which most frameworks accept. */
  messages: ChatMessage[];
  /** The tools of the resources server. */
  tools: GymTool[];
  model: ModelAccess;
  config: Config;
  server: ServerContext<Config>;
  rollout: RolloutScope;
  signal: AbortSignal;
}

/** The result of an agent: nothing, its final answer, or all items if the recorded ones are not sufficient. */
// biome-ignore lint/suspicious/noConfusingVoidType: functions without a return statement are allowed
export type FrameworkResult = string | readonly ResponseOutputItem[] | undefined | void;

export interface FrameworkAgentOptions<ConfigSchema extends typeof frameworkAgentConfig> {
  name: string;
  config?: ConfigSchema;
  /** Answers a request with the framework. Throw `IncompleteRun` if the framework gives up on the model's answers. */
  respond(run: FrameworkRun<z.output<ConfigSchema>>): Promise<FrameworkResult>;
}

/** The loop ended without an answer because of the model. The rollout is scored with the items so far. */
export class IncompleteRun extends Error {
  readonly reason: string;

  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.reason = reason;
  }
}

/**
 * Defines an agent server that uses a framework in this process. The framework receives the settings of a model client
 * and callable tools. Their calls provide the items, the usage and the trajectory.
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
      const trajectory = TrajectoryRecorder.of(globalConfig, rollout);
      const limits = callLimits(globalConfig);
      const modelServer = config.model_server.name;
      const session = { cookies };
      const record = new LoopRecord(modelServer, {
        trajectory,
        onItems: (items) => rollout.onOutput?.(items, session.cookies),
      });
      const model = config.model ?? params.model ?? DEFAULT_MODEL;
      const countedUsage = () => takeRolloutUsage(client, modelServer, rollout, signal);
      // Drops the counts of an earlier attempt.
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
      // Some clients accept an address but no fetch, so only the model server has counted their calls.
      const usage = (await countedUsage()) ?? record.usage;
      const { incompleteReason } = outcome;
      const response = responseOf(outcome.items, { params, model, usage, incompleteReason });
      const status = incompleteReason === undefined ? "completed" : "incomplete";
      const recorded = trajectory && {
        _ng_trajectory: trajectory.finish(response, inputItems(params), status),
      };
      return { response: { ...response, ...recorded } as Response & JsonObject, cookies: session.cookies };
    },
  });
}

/** Runs the loop to its end. A failed model call takes precedence over the error that the framework made of it. */
async function settled(
  record: LoopRecord,
  respond: () => Promise<FrameworkResult>,
): Promise<{ items: readonly ResponseOutputItem[]; incompleteReason?: string }> {
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
  const last = items.at(-1);
  const isRecorded = last?.type === "message" && textParts(last.content).join("") === result;
  return result === undefined || isRecorded ? items : [...items, messageOf(result)];
}
