import { accumulateUsage, type Usage } from "../../wire/convert/door.ts";
import type {
  FunctionCall,
  FunctionCallOutput,
  Response,
  ResponseCreateParams,
  ResponseInputItem,
  ResponseOutputItem,
} from "../../wire/schemas/door.ts";
import { type Cookies, mergeCookies } from "../calls/cookies.ts";
import type { ServerContext } from "../calls/server-client.ts";
import { TrajectoryRecorder } from "../capture/trajectory-recorder.ts";
import { callLimits, EmptyTurns } from "./agent-config.ts";
import { callModel, inputItems } from "./call-model.ts";
import type { AgentReply, RolloutScope } from "./define-agent.ts";
import type { MaybePromise } from "./definitions.ts";
import type { AgentSession } from "./episodes/agent-sessions.ts";
import { grantedTools } from "./episodes/tool-grant.ts";
import { TokenBudget } from "./token-budget.ts";
import { runToolCall, type ToolRun } from "./tool-calls.ts";

/** The arguments of `responses` that the loop needs; `config` is `loopAgentConfig` or an extension of it. */
export interface ToolLoopArgs {
  params: ResponseCreateParams;
  cookies: Cookies;
  config: {
    model_server: { name: string };
    resources_server?: { name: string };
    /** False: a turn with calls ends the loop, and the environment server runs them. */
    execute_tools?: boolean;
    max_steps?: number | null | undefined;
    max_empty_turns?: number | null | undefined;
  };
  server: ServerContext<unknown>;
  rollout: RolloutScope;
  signal: AbortSignal;
  /** The session of the request, whose tools replace those of `resources_server`. */
  session?: AgentSession;
}

/** The input of a model call, and fields that the model server accepts beyond those of the Responses API. */
export interface Question {
  input: readonly ResponseInputItem[];
  fields: Readonly<Record<string, unknown>>;
}

/** Hooks that change the standard loop. */
export interface ToolLoopHooks {
  /**
   * The input of a model call, or its input and further fields of the request. Null ends the loop as incomplete; the
   * first call cannot be left out. Default: the whole conversation.
   */
  question?(
    conversation: readonly ResponseInputItem[],
    step: number,
  ): MaybePromise<readonly ResponseInputItem[] | Question | null>;
  /** Answers a tool call with an item or a text. Default: `byServer`, which runs the tool on the resources server. */
  runCall?(
    call: FunctionCall,
    byServer: () => Promise<FunctionCallOutput>,
  ): MaybePromise<FunctionCallOutput | string>;
  /**
   * Called when the model has answered. Returned items continue the conversation. Default: the answer ends the loop.
   */
  answered?(response: Response, step: number): MaybePromise<readonly ResponseInputItem[] | undefined>;
}

/**
 * The loop of an agent: ask the model, run its tool calls in order, until it answers. Keeps the cookies of both
 * servers, enforces the time limits, `max_steps` and `max_empty_turns`, and records the trajectory.
 *
 * @example
 * export default defineAgent({ config: loopAgentConfig, responses: (args) => toolLoop(args) });
 */
export async function toolLoop(args: ToolLoopArgs, hooks: ToolLoopHooks = {}): Promise<AgentReply> {
  const { params, config, server, rollout, signal, session } = args;
  const { client, globalConfig } = server;
  const limits = callLimits(globalConfig);
  const modelServer = config.model_server.name;
  const recorder = TrajectoryRecorder.of(globalConfig, rollout);
  const toolRun: ToolRun = {
    client: session ? grantedTools(session) : client,
    resourcesServer: config.resources_server?.name ?? server.name,
    rollout,
    signal,
    timeoutMs: limits.toolCallMs,
    recorder,
    tools: params.tools,
  };
  // Every tool call sends the cookies that earlier calls set.
  let cookies = session?.cookies ?? args.cookies;
  const runTool = async (call: FunctionCall): Promise<FunctionCallOutput> => {
    const done = await runToolCall(call, cookies, toolRun);
    cookies = done.cookies;
    if (session) session.cookies = cookies;
    return done.output;
  };
  const emptyTurns = new EmptyTurns(config.max_empty_turns);
  const budget = TokenBudget.of(globalConfig);
  const input = inputItems(params);
  const produced: ResponseOutputItem[] = [];
  const produce = (...items: readonly ResponseOutputItem[]) => {
    produced.push(...items);
    rollout.onOutput?.(items, cookies);
  };
  let usage: Usage | null = null;
  let modelCookies: Cookies | undefined;
  let last: Response | undefined;
  let status: "completed" | "incomplete" = "incomplete";
  let gaveUp = false;
  let isSpent = false;
  for (let step = 1; ; step++) {
    const startedAt = Date.now();
    const conversation = [...input, ...produced];
    const asked = hooks.question ? await hooks.question(conversation, step) : conversation;
    if (asked === null && last) break;
    const { input: wanted, fields } = asked && "input" in asked ? asked : { input: asked, fields: {} };
    const question = [...(wanted ?? conversation)];
    const turn = await callModel(client, {
      modelServer,
      params: { ...budget.limited(params, usage), input: question, ...fields },
      rollout,
      signal,
      timeoutMs: limits.modelCallMs,
      // Sending the model server's cookie back keeps a conversation on one replica.
      cookies: modelCookies,
    });
    last = turn.response;
    modelCookies = turn.cookies;
    const { output } = last;
    produce(...output);
    usage = accumulateUsage(usage, last.usage);
    recorder?.modelTurn({ startedAt, question, output, responseId: last.id, modelServer });
    // A truncated turn may end in the middle of a call, so none of its calls are run.
    if (last.incomplete_details) break;
    const calls = output.filter((item) => item.type === "function_call");
    if (isAnswer(output, calls.length)) {
      const further = await hooks.answered?.(last, step);
      if (further === undefined || further.length === 0) {
        status = "completed";
        break;
      }
      produce(...(further as readonly ResponseOutputItem[]));
    }
    gaveUp = emptyTurns.isOver(output);
    if (gaveUp) {
      server.log.warn(emptyTurns.note);
      break;
    }
    if (config.execute_tools === false) break;
    for (const call of calls) {
      const byServer = () => runTool(call);
      const output = await (hooks.runCall ? hooks.runCall(call, byServer) : byServer());
      produce(typeof output === "string" ? outputItem(call, output) : output);
    }
    if (config.max_steps && step >= config.max_steps) break;
    isSpent = budget.isSpent(usage);
    if (isSpent) break;
  }
  let response: Response & Record<string, unknown> = { ...last, output: produced, usage };
  if (gaveUp) response = emptyTurns.ended(response);
  if (isSpent) response = budget.ended(response, usage);
  if (recorder) {
    const trajectory = recorder.finish(response, input, status);
    if (session) session.observations.push(trajectory);
    else response["_ng_trajectory"] = trajectory;
  }
  // Cookies of the environment stay in the session. The caller gets only those of this agent.
  return { response, cookies: session ? {} : mergeCookies(cookies, modelCookies ?? {}) };
}

function outputItem({ call_id }: FunctionCall, output: string): FunctionCallOutput {
  return { type: "function_call_output", call_id, output };
}

/** Whether a turn is an answer: it has an assistant message and no call. After a turn with reasoning only, the model is asked again. */
function isAnswer(output: readonly ResponseOutputItem[], calls: number): boolean {
  return (
    calls === 0 &&
    output.some((item) => item.type === "message" && (item.role ?? "assistant") === "assistant")
  );
}
