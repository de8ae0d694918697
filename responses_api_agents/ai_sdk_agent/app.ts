import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, tool } from "ai";
import { aiSdkTools, defineFrameworkAgent } from "nemo-gym/agents";
import { modelMessages } from "./model-messages.ts";

/** The tool loop of the Vercel AI SDK on the model server's `/v1/chat/completions`. */
export default defineFrameworkAgent({
  name: "AiSdkAgent",
  async respond({ messages, tools, model, signal }) {
    const provider = createOpenAICompatible({
      name: "gym",
      baseURL: model.baseUrl,
      apiKey: model.apiKey,
      fetch: model.fetch,
    });
    const { text } = await generateText({
      model: provider(model.name),
      messages: modelMessages(messages),
      tools: aiSdkTools(tools, { tool, jsonSchema }),
      // The gym counts model calls (`max_steps`).
      stopWhen: () => false,
      // The gym's client has already retried.
      maxRetries: 0,
      abortSignal: signal,
    });
    return text;
  },
});
