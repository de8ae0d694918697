import {
  Agent,
  MaxTurnsExceededError,
  ModelBehaviorError,
  OpenAIResponsesModel,
  Runner,
  tool,
} from "@openai/agents";
import {
  defineFrameworkAgent,
  frameworkAgentConfig,
  IncompleteRun,
  inputItems,
  openAiAgentsTools,
} from "nemo-gym/agents";
import OpenAI from "openai";
import { z } from "zod";
import { agentItems } from "./agent-items.ts";

/** The OpenAI Agents SDK on the model server's `/v1/responses`. */
export default defineFrameworkAgent({
  name: "OpenAiAgentsAgent",
  config: frameworkAgentConfig.extend({ agent_name: z.string().default("Assistant") }),
  async respond({ params, tools, model, config, signal }) {
    const client = new OpenAI({
      baseURL: model.baseUrl,
      apiKey: model.apiKey,
      fetch: model.fetch,
      maxRetries: 0,
    });
    const agent = new Agent({
      name: config.agent_name,
      model: new OpenAIResponsesModel(client, model.name),
      tools: openAiAgentsTools(tools, tool),
      ...(params.parallel_tool_calls != null && {
        modelSettings: { parallelToolCalls: params.parallel_tool_calls },
      }),
    });
    // Traces would be sent to OpenAI.
    const runner = new Runner({ tracingDisabled: true });
    try {
      const result = await runner.run(agent, agentItems(inputItems(params)), {
        maxTurns: config.max_steps ?? Number.MAX_SAFE_INTEGER,
        signal,
      });
      return result.finalOutput ?? "";
    } catch (error) {
      if (error instanceof MaxTurnsExceededError) throw new IncompleteRun("max_steps", { cause: error });
      // For example a call of an unknown tool, which is a mistake of the model.
      if (error instanceof ModelBehaviorError) throw new IncompleteRun("invalid_tool_call", { cause: error });
      throw error;
    }
  },
});
