import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { defineFrameworkAgent, langChainTools } from "nemo-gym/agents";
import { chatModel, conversation, invocation } from "./chat-model.ts";

/** LangGraph's tool loop: model and tool node alternate until the model answers. */
export default defineFrameworkAgent({
  name: "LangGraphAgent",
  async respond(run) {
    const tools = langChainTools(run.tools, tool);
    const model = tools.length > 0 ? chatModel(run).bindTools(tools) : chatModel(run);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("model", async ({ messages }) => ({
        messages: [await model.invoke(messages, { signal: run.signal })],
      }))
      .addNode("tools", new ToolNode(tools))
      .addEdge("__start__", "model")
      .addConditionalEdges("model", toolsCondition)
      .addEdge("tools", "model")
      .compile();
    const { messages } = await graph.invoke({ messages: conversation(run) }, invocation(run));
    return messages.at(-1)?.text;
  },
});
