import { defineResourcesServer, HttpError } from "nemo-gym";
import { dumps, isObject } from "nemo-gym/python";
import { z } from "zod";
import { Config } from "./config.ts";
import { Conversation, type ToolCall } from "./conversation.ts";
import { createConversationJudge } from "./judging.ts";
import { conversationMetrics } from "./metrics.ts";
import { type Checked, resultOf } from "./result.ts";
import { functionTools, Seed } from "./row.ts";
import { createSimulators, faulty, TRANSFER } from "./simulators.ts";

const Call = z.object({ tool_name: z.string(), tool_call_id: z.string(), arguments: z.string() });
const Output = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("message"), content: z.string() }),
  Call.extend({ type: z.literal("function_call") }),
]);
const hidden = { expose: false } as const;

interface Session {
  /** Undefined after the conversation was verified or discarded. */
  current: { conversation: Conversation; seed: Seed } | undefined;
}

/** A customer, the tools of a company and a judge, all played by models; the policy is the representative. */
export default defineResourcesServer({
  config: Config,
  seed: Seed,
  row: z.object({}),
  metrics: conversationMetrics,
  start: async (server) => ({
    simulators: await createSimulators(server),
    judge: await createConversationJudge(server),
  }),
  session: ({ row: seed }): Session => ({ current: { conversation: begin(seed), seed } }),
  unseeded(): Session {
    throw new HttpError(400, "This session has no conversation: call /seed_session first.");
  },
  tools: {
    session_resume: {
      ...hidden,
      run({ session }) {
        const { conversation } = current(session);
        return {
          next_actor: conversation.nextActor,
          pending_tool_calls: conversation.pending,
          is_initial: conversation.messages.length === 0,
          terminal_state: conversation.terminal,
        };
      },
    },
    session_tools: {
      ...hidden,
      run: ({ session }) => ({ tools: functionTools(current(session).seed.tools) }),
    },
    next_user_message: {
      ...hidden,
      async run({ session, state, signal }) {
        const { conversation, seed } = current(session);
        const message = conversation.terminal
          ? ""
          : await state.simulators.customer(conversation, seed, signal);
        return { message, ...conversation.state };
      },
    },
    record_agent_outputs: {
      ...hidden,
      input: z.looseObject({ outputs: z.array(Output) }),
      run({ session, input }) {
        const { conversation } = current(session);
        for (const output of input.outputs) {
          if (conversation.terminal) break;
          if (output.type === "message") conversation.say("agent", output.content);
          else conversation.call(callOf(output));
        }
        return conversation.state;
      },
    },
    record_agent_message: {
      ...hidden,
      input: z.looseObject({ content: z.string() }),
      run({ session, input }) {
        const { conversation } = current(session);
        if (!conversation.terminal) conversation.say("agent", input.content);
        return conversation.state;
      },
    },
    execute_agent_tool_call: {
      ...hidden,
      input: Call,
      run: ({ session, input, state, signal }) => execute(session, input, state, signal),
    },
    record_generation_error: {
      ...hidden,
      input: z.looseObject({ source: z.enum(["user", "agent", "environment"]).default("agent") }),
      run({ session, input }) {
        const { conversation } = current(session);
        const label = { user: "user_failure", agent: "agent_failure", environment: "tool_failure" } as const;
        conversation.fail("message_generation_error", label[input.source]);
        return conversation.state;
      },
    },
    record_agent_step_limit: {
      ...hidden,
      input: z.looseObject({ tool_calls: z.array(Call).nullish() }),
      run({ session, input }) {
        const { conversation } = current(session);
        for (const call of input.tool_calls ?? []) if (!conversation.recorded(call)) conversation.call(call);
        conversation.fail("excessive_length", "trajectory_failure");
        return conversation.state;
      },
    },
    discard_session: {
      ...hidden,
      run({ session }) {
        const discarded = session.current !== undefined;
        session.current = undefined;
        return { discarded };
      },
    },
  },
  /** The simulated tools, by their names. */
  fallbackTool: {
    run({ name, input, session, state, signal }) {
      const { _tool_call_id: id, ...given } = isObject(input) ? input : {};
      const { conversation } = current(session);
      const count = conversation.messages.filter(({ type }) => type === "tool_call").length;
      const tool_call_id = typeof id === "string" ? id : `tool_call_${count + 1}`;
      const call = { tool_name: name, tool_call_id, arguments: dumps(given) };
      return execute(session, call, state, signal);
    },
  },
  async verify({ config, session, state: { judge }, signal }) {
    const { conversation, seed } = current(session);
    const outside = seed.customer_scenario.outside_policy_scope === true;
    const transferred = conversation.messages.some(
      (item) => item.type === "text" && item.source === "user" && item.content.includes(TRANSFER),
    );
    const mismatch = config.enforce_transfer_ground_truth && transferred !== outside;
    const checked: Checked = {
      outside,
      transferred,
      mismatch,
      enforced: config.enforce_transfer_ground_truth,
    };
    if (conversation.terminal !== "complete") {
      if (!conversation.failure) conversation.fail("message_generation_error", "trajectory_failure");
    } else if (!mismatch && judge) checked.judgement = await judge(seed, conversation.messages, signal);
    // Kept until here: after an error of the judge the verification can be repeated.
    session.current = undefined;
    return resultOf(conversation, checked);
  },
});

function begin(seed: Seed): Conversation {
  const conversation = new Conversation(new Map(seed.tools.map((tool) => [tool.name, tool])));
  const params = seed["responses_create_params"];
  conversation.prefill(isObject(params) ? params["input"] : undefined);
  const first = seed.initial_user_message;
  if (first == null) return conversation;
  const said = conversation.messages.find((item) => item.type === "text" && item.source === "user");
  if (conversation.messages.length === 0) {
    conversation.say("user", first);
    conversation.prefilled = 1;
  } else if (said?.type !== "text" || said.content !== first)
    throw new HttpError(400, "initial_user_message is not the first user message of the input.");
  return conversation;
}

function current(session: Session) {
  if (session.current) return session.current;
  throw new HttpError(400, "The conversation of this session has ended.");
}

async function execute(
  session: Session,
  call: ToolCall,
  { simulators }: { simulators: Awaited<ReturnType<typeof createSimulators>> },
  signal: AbortSignal,
) {
  const { conversation, seed } = current(session);
  const recorded = conversation.recorded(call);
  if (conversation.terminal) return { ...faulty("The conversation has ended."), ...conversation.state };
  const fault = recorded ? undefined : conversation.call(call);
  const answer =
    fault === undefined ? await simulators.execute(conversation, seed, call, signal) : faulty(fault);
  return { ...answer, ...conversation.state };
}

function callOf({ tool_name, tool_call_id, arguments: given }: ToolCall): ToolCall {
  return { tool_name, tool_call_id, arguments: given };
}
