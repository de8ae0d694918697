import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { defineFrameworkAgent, frameworkAgentConfig } from "nemo-gym/agents";
import { laxInt } from "nemo-gym/openai";
import { ask, chatModel, conversation, invocation } from "./chat-model.ts";

const CRITIQUE = "Look at your solution again. What could be wrong with it?";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  reflections: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
});

/** Answers, criticises the answer and answers again, until there is an `<answer>` or the reflections are used up. */
export default defineFrameworkAgent({
  name: "ReflectionAgent",
  config: frameworkAgentConfig.extend({ max_reflections: laxInt().default(2) }),
  async respond(run) {
    const model = chatModel(run);
    const { max_reflections } = run.config;
    const graph = new StateGraph(State)
      .addNode("generate", async ({ messages }) => ({
        messages: [new AIMessage(await ask(model, messages, run.signal))],
      }))
      .addNode("reflect", async ({ messages, reflections }) => ({
        // The critique becomes a user message.
        messages: [new HumanMessage(await ask(model, [...messages, new HumanMessage(CRITIQUE)], run.signal))],
        reflections: reflections + 1,
      }))
      .addEdge("__start__", "generate")
      .addConditionalEdges("generate", ({ messages, reflections }) =>
        reflections >= max_reflections || isFinal(messages) ? "__end__" : "reflect",
      )
      .addEdge("reflect", "generate")
      .compile();
    const { messages } = await graph.invoke({ messages: conversation(run) }, invocation(run));
    return messages.at(-1)?.text;
  },
});

const isFinal = (messages: BaseMessage[]) => messages.at(-1)?.text.includes("<answer>") ?? false;
