import { callServer, defineAgent, HttpError, type ServerContext, toolLoop } from "nemo-gym";
import { convertResponsesToChat, type ResponseCreateParams } from "nemo-gym/openai";
import { compactionAgentConfig } from "./config.ts";
import { ContextHistory, type Question } from "./context-history.ts";

/** The tool loop of simple_agent, which shows its model a shortened conversation. */
export default defineAgent({
  name: "SimpleAgentWithCompaction",
  config: compactionAgentConfig,
  responses: async (args) => {
    const { config, server, params, rollout, signal } = args;
    const settings = config.context_history;
    if (!settings.enabled) return toolLoop(args);
    const history = new ContextHistory(settings, (question) =>
      countTokens(server, config.model_server.name, params, question, signal),
    );
    const reply = await toolLoop(args, {
      question: async (conversation, step) => {
        const question = await history.question(conversation, step);
        if (question === null && step === 1)
          throw new HttpError(
            422,
            "The input of the row is larger than the guards of context_history allow.",
          );
        return question;
      },
    });
    const { metadata } = reply.response;
    const ended = {
      ng_termination_reason: "context_limit",
      ng_termination_message: "context_history.guards",
    };
    const rejected = { status: "incomplete" as const, metadata: { ...metadata, ...ended } };
    const marks = history.report(rollout.rolloutId);
    return { ...reply, response: { ...reply.response, ...(history.isRejected && rejected), ...marks } };
  },
});

/** Asks the model server for the prompt of a question. */
async function countTokens(
  server: ServerContext<unknown>,
  modelServer: string,
  params: ResponseCreateParams,
  { input, fields }: Question,
  signal: AbortSignal,
): Promise<number> {
  const { messages, tools } = convertResponsesToChat(
    { ...params, input, model: "" },
    { returnTokenIds: true },
  );
  const body = { messages, ...(tools && { tools }), ...fields };
  const call = {
    server: modelServer,
    path: "/tokenize",
    body,
    stage: "model",
    signal,
    idempotent: true,
  } as const;
  const reply = await callServer(server.client, call).catch((error: { status?: unknown }) => {
    if (error.status !== 404 && error.status !== 405) throw error;
    throw new HttpError(
      422,
      `max_total_tokens needs a model server with /tokenize, such as vllm_model_with_compaction; ${modelServer} has none.`,
    );
  });
  const { count, tokens } = reply.json() as { count?: unknown; tokens?: unknown };
  const found = Array.isArray(tokens) ? tokens.length : count;
  if (typeof found !== "number")
    throw new HttpError(502, `${modelServer} /tokenize answered ${reply.status} without tokens.`);
  return found;
}
