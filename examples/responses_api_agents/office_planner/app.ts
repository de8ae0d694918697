import { coerceMessageLikeToMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { defineFrameworkAgent, langChainMessages, langChainTools } from "nemo-gym/agents";

/** Writes a plan first, then works through it with the tools of the environment. */
export default defineFrameworkAgent({
  name: "OfficePlanner",
  async respond({ messages, tools, model, signal }) {
    const chat = new ChatOpenAI({
      model: model.name,
      apiKey: model.apiKey,
      configuration: { baseURL: model.baseUrl, fetch: model.fetch },
      maxRetries: 0,
    });
    const office = langChainTools(tools, tool);
    const worker = chat.bindTools(office);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("plan", async (state) => {
        const question = new HumanMessage("Write a short plan for this. Do not act yet.");
        const plan = await chat.invoke([...state.messages, question], { signal });
        return { messages: [question, plan, new HumanMessage("Now carry it out.")] };
      })
      .addNode("work", async (state) => ({ messages: [await worker.invoke(state.messages, { signal })] }))
      .addNode("tools", new ToolNode(office))
      .addEdge("__start__", "plan")
      .addEdge("plan", "work")
      .addConditionalEdges("work", toolsCondition)
      .addEdge("tools", "work")
      .compile();
    const conversation = langChainMessages(messages, coerceMessageLikeToMessage);
    const done = await graph.invoke({ messages: conversation }, { signal, recursionLimit: 200 });
    return done.messages.at(-1)?.text;
  },
});
