import { defineAgent, loopAgentConfig } from "nemo-gym";
import {
  callLimits,
  callModel,
  inputItems,
  mergeCookies,
  modelServerRef,
  runToolCall,
  seedSession,
  verifyRollout,
} from "nemo-gym/agents";
import {
  accumulateUsage,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  type Response,
  type ResponseInputItem,
  type ResponseOutputItem,
  type Usage,
} from "nemo-gym/openai";
import { z } from "zod";
import { SimulatedUser } from "./simulated-user.ts";

const USER_PROMPT = `You are the user in a conversation with an assistant. Stay in this role:

{scenario}

Say one thing at a time, as a person would write it, and only what the role knows. Never do the assistant's work. When you have what you want, or it is clear that you will
not get it, write {stop} and nothing else.`;

const config = loopAgentConfig.extend({
  /** The model that plays the user. */
  user_model_server: modelServerRef,
  /** Instructions of the user; `{scenario}` and `{stop}` are replaced. */
  user_prompt: z.string().default(USER_PROMPT),
  /** Settings of the user's model calls, such as `temperature`. */
  user_params: z.record(z.string(), z.unknown()).default({}),
  /** Maximum number of user messages. */
  max_user_turns: laxInt().default(10),
  /** Texts with which the user ends the conversation. */
  stop_words: z.array(z.string()).min(1).default(["###STOP###"]),
  /** Row field with the user's scenario. */
  scenario_field: z.string().default("user_scenario"),
});

/** A second model plays the user: agent and user alternate until the user is done. Only the agent's side is scored and trained. */
export default defineAgent({
  name: "UserSimulationAgent",
  config,
  /** The agent's response to one message: its model and its tools alternate. */
  async responses({ params, cookies, config: own, server, rollout, signal }) {
    const { client, globalConfig } = server;
    const limits = callLimits(globalConfig);
    const resourcesServer = own.resources_server.name;
    const tools = { client, resourcesServer, rollout, signal, timeoutMs: limits.toolCallMs };
    const input = inputItems(params);
    const produced: ResponseOutputItem[] = [];
    let usage: Usage | null = null;
    let session = cookies;
    for (let step = 1; ; step++) {
      const { response } = await callModel(client, {
        modelServer: own.model_server.name,
        params: { ...params, input: [...input, ...produced] },
        rollout,
        signal,
        timeoutMs: limits.modelCallMs,
      });
      produced.push(...response.output);
      usage = accumulateUsage(usage, response.usage);
      const calls = response.output.filter((item) => item.type === "function_call");
      const isCutOff = Boolean(response.incomplete_details) || (own.max_steps && step >= own.max_steps);
      if (calls.length === 0 || isCutOff) {
        const reason = response.incomplete_details ?? (calls.length > 0 ? { reason: "max_steps" } : null);
        return {
          response: { ...response, output: produced, usage, incomplete_details: reason } as Response &
            Record<string, unknown>,
          cookies: session,
        };
      }
      for (const call of calls) {
        const done = await runToolCall(call, session, tools);
        session = mergeCookies(session, done.cookies);
        produced.push(done.output);
      }
    }
  },
  async run(args) {
    const { row, params, cookies, config: own, server, rollout, signal, respond } = args;
    const body = { ...row, responses_create_params: materializeCreateParams(params) };
    let session = (await seedSession(args, body, cookies)).cookies;
    const user = new SimulatedUser({
      modelServer: own.user_model_server.name,
      instructions: own.user_prompt
        .replaceAll("{scenario}", () => String(row[own.scenario_field] ?? ""))
        .replaceAll("{stop}", () => own.stop_words[0] ?? ""),
      stopWords: own.stop_words,
      params: own.user_params,
      server,
      rollout,
      signal,
      timeoutMs: callLimits(server.globalConfig).modelCallMs,
    });

    const input = inputItems(params);
    const output: ResponseOutputItem[] = [];
    const say = (text: string) =>
      output.push({ role: "user", content: text, type: "message" } as unknown as ResponseOutputItem);
    if (!input.some((item) => "role" in item && item.role === "user"))
      say(firstMessage(row) ?? (await user.reply(input)).text);
    let usage: Usage | null = null;
    let last: Response | undefined;
    let stopReason = "max_user_turns";
    for (let turn = 1; ; turn++) {
      const conversation = [...input, ...output] as ResponseInputItem[];
      const answered = await respond({ ...params, input: conversation }, session);
      last = answered.response as Response;
      session = answered.cookies;
      usage = accumulateUsage(usage, last.usage);
      output.push(...last.output);
      if (last.incomplete_details) {
        stopReason = "agent_incomplete";
        break;
      }
      if (turn >= own.max_user_turns) break;
      const { text, isOver } = await user.reply([...input, ...output]);
      if (isOver || text === "") {
        stopReason = isOver ? "user_stop" : "user_silent";
        break;
      }
      say(text);
    }

    const result = { ...body, response: materializeResponse({ ...last, output, usage }) };
    const verified = await verifyRollout(args, result, session);
    return {
      ...(verified.json() as Record<string, unknown>),
      user_simulation: { stop_reason: stopReason, user_model_calls: user.calls, user_usage: user.usage },
    };
  },
});

/** Datasets may define the start of the conversation. */
function firstMessage(row: Record<string, unknown>): string | undefined {
  const text = row["initial_user_message"];
  return typeof text === "string" && text !== "" ? text : undefined;
}
