import { callServer, defineAgent, type JsonObject } from "nemo-gym";
import {
  agentConfig,
  type Cookies,
  callLimits,
  callModel,
  inputItems,
  mergeCookies,
  modelServerRef,
  resourcesServerRef,
  seedSession,
  verifyRollout,
} from "nemo-gym/agents";
import {
  accumulateUsage,
  functionCalls,
  laxBool,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  outputText,
  parseCreateParams,
  type Response,
  type ResponseInputItem,
  type ResponseOutputItem,
  type Usage,
} from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { systemMessage } from "./system-message.ts";

const DISCARD_LIMIT_MS = 5_000;

const State = z.looseObject({ should_continue: z.boolean() });
const UserMessage = State.extend({ message: z.string() });
const Executed = State.extend({ output: z.unknown() });
const Pending = z.looseObject({ tool_name: z.string(), tool_call_id: z.string(), arguments: z.string() });
const Resume = z.looseObject({
  next_actor: z.enum(["terminal", "environment", "user", "agent"]),
  pending_tool_calls: z.array(Pending),
  is_initial: z.boolean(),
});
const Tools = z.looseObject({ tools: z.array(z.record(z.string(), z.unknown())) });

/** The representative in a simulated conversation of customer service. */
export default defineAgent({
  name: "ConversationalToolUseSimulation",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    /** Model calls of one conversation. */
    max_agent_steps: laxInt().pipe(z.number().min(1)).default(50),
    /** Whether the customer says the first word. */
    seed_first_user_message: laxBool().default(true),
  }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const { client } = server;
    const limits = callLimits(server.globalConfig);
    let session: Cookies = cookies;
    const ask = async <Schema extends z.ZodType>(path: string, schema: Schema, body: JsonObject = {}) => {
      rollout.onStage("tool", path);
      const call = {
        ...{
          server: config.resources_server.name,
          path: `${rollout.prefix}/${path}`,
          body,
          stage: "tool" as const,
        },
        ...{
          signal,
          timeoutMs: limits.toolCallMs,
          timeoutKey: "tool_call_timeout_seconds",
          cookies: session,
        },
      };
      const reply = await callServer(client, call);
      session = mergeCookies(session, reply.cookies);
      return schema.parse(reply.json());
    };

    const input = inputItems(params);
    const output: ResponseOutputItem[] = [];
    const add = (item: object) => output.push(item as ResponseOutputItem);
    let usage: Usage | null = null;
    let last: Response | undefined;
    /** Lets the customer speak; false if the conversation is over. */
    const listen = async () => {
      const { message, should_continue } = await ask("next_user_message", UserMessage);
      if (message !== "") add({ role: "user", content: message, type: "message" });
      return should_continue;
    };
    const execute = async (call: z.output<typeof Pending>) => {
      const done = await ask("execute_agent_tool_call", Executed, call);
      const text = typeof done.output === "string" ? done.output : JSON.stringify(done.output);
      add({ type: "function_call_output", call_id: call.tool_call_id, output: text });
      return done.should_continue;
    };
    const runCalls = async (calls: readonly z.output<typeof Pending>[]) => {
      for (const call of calls) if (!(await execute(call))) return false;
      return true;
    };
    /** One model call and what follows from it; false if the conversation is over. */
    const step = async (isLast: boolean): Promise<boolean> => {
      const { response } = await callModel(client, {
        modelServer: config.model_server.name,
        params: { ...params, input: [...input, ...output] as ResponseInputItem[] },
        ...{ rollout, signal, timeoutMs: limits.modelCallMs },
      });
      last = response;
      usage = accumulateUsage(usage, response.usage);
      const every = functionCalls(response);
      const calls = params.parallel_tool_calls === true ? every : every.slice(0, 1);
      const text = strip(outputText(response));
      for (const item of response.output) {
        if (item.type === "function_call" && !calls.some(({ call_id }) => call_id === item.call_id)) continue;
        if (item.type === "message" && strip(outputText({ output: [item] })) === "") continue;
        add(item);
      }
      if (response.incomplete_details || (calls.length === 0 && text === "")) {
        const error = response.incomplete_details?.reason ?? "The model wrote neither a text nor a call.";
        await ask("record_generation_error", State, { source: "agent", error });
        return false;
      }
      const pending = calls.map(({ name, call_id, arguments: given }) => ({
        ...{ tool_name: name, tool_call_id: call_id, arguments: given },
      }));
      const outputs = [
        ...(text === "" ? [] : [{ type: "message", content: text }]),
        ...pending.map((call) => ({ type: "function_call", ...call })),
      ];
      if (!(await ask("record_agent_outputs", State, { outputs })).should_continue) return false;
      const goesOn = pending.length > 0 ? isLast || (await runCalls(pending)) : await listen();
      if (goesOn && isLast) {
        const limit = { max_agent_steps: config.max_agent_steps, tool_calls: pending };
        await ask("record_agent_step_limit", State, limit);
      }
      return goesOn && !isLast;
    };

    const resume = await ask("session_resume", Resume);
    let goesOn = resume.next_actor !== "terminal";
    if (resume.next_actor === "environment") goesOn = await runCalls(resume.pending_tool_calls);
    const isSilent = resume.is_initial && !config.seed_first_user_message;
    if (resume.next_actor === "user" && !isSilent) goesOn = await listen();
    for (let count = 1; goesOn; count++) goesOn = await step(count >= config.max_agent_steps);
    return { response: { ...(last ?? EMPTY), output, usage } as Response & JsonObject, cookies: session };
  },
  async run(args) {
    const { row, params, cookies, config, server, rollout, respond } = args;
    const body = { ...row, responses_create_params: materializeCreateParams(params) };
    let session = (await seedSession(args, body, cookies)).cookies;
    const call = { server: config.resources_server.name, stage: "seed" as const, body: {} };
    try {
      const offered = await callServer(server.client, {
        ...{ ...call, path: `${rollout.prefix}/session_tools`, cookies: session, signal: args.signal },
      });
      const prepared = parseCreateParams(
        {
          ...params,
          tools: params.tools?.length ? params.tools : Tools.parse(offered.json()).tools,
          input: [...systemMessage(row, params), ...inputItems(params)],
        },
        ["responses_create_params"],
      );
      const answered = await respond(prepared, mergeCookies(session, offered.cookies));
      session = answered.cookies;
      const response = materializeResponse(answered.response);
      const request = materializeCreateParams(prepared);
      const verified = await verifyRollout(
        args,
        { ...row, responses_create_params: request, response },
        session,
      );
      return verified.json() as JsonObject;
    } catch (error) {
      // The conversation will not be verified. The cause is the error that counts.
      const discard = { path: `${rollout.prefix}/discard_session`, cookies: session };
      await callServer(server.client, {
        ...call,
        ...discard,
        signal: AbortSignal.timeout(DISCARD_LIMIT_MS),
      }).catch((failed: unknown) => server.log.warn(`The session was not discarded: ${String(failed)}`));
      throw error;
    }
  },
});

/** The response of a conversation that ends before the model is asked. */
const EMPTY = {
  ...{ id: "resp_none", object: "response", created_at: 0, model: "none" },
  ...{ parallel_tool_calls: true, tool_choice: "auto", tools: [] },
};
