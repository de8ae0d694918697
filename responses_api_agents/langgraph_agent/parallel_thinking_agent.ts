import { Annotation, Send, StateGraph } from "@langchain/langgraph";
import { defineFrameworkAgent, frameworkAgentConfig } from "nemo-gym/agents";
import { laxInt } from "nemo-gym/openai";
import { z } from "zod";
import { ask, chatModel, invocation, taskOf } from "./chat-model.ts";

const PERSPECTIVES = [
  "Solve the problem step by step by logical deduction.",
  "List all possible cases and rule out those that cannot be.",
  "Start from the constraints and work backwards to the answer.",
  "Find the relations that matter and go through them systematically.",
];
const ANY_PERSPECTIVE = "Think carefully about the problem and solve it.";

const State = Annotation.Root({
  paths: Annotation<{ index: number; text: string }[]>({
    reducer: (left, right) => [...left, ...right],
    default: () => [],
  }),
  answer: Annotation<string>,
});

/** Thinks about the task from several perspectives at the same time, then decides. */
export default defineFrameworkAgent({
  name: "ParallelThinkingAgent",
  config: frameworkAgentConfig.extend({
    num_parallel_paths: laxInt().default(4),
    perspective_prompts: z.array(z.string()).default(PERSPECTIVES),
  }),
  async respond(run) {
    const model = chatModel(run);
    const task = taskOf(run);
    const { num_parallel_paths, perspective_prompts } = run.config;
    const graph = new StateGraph(State)
      .addNode("think", async ({ index }: { index: number }) => {
        const perspective = perspective_prompts[index] ?? ANY_PERSPECTIVE;
        return {
          paths: [{ index, text: await ask(model, `${perspective}\n\nProblem: ${task}`, run.signal) }],
        };
      })
      .addNode("aggregate", async ({ paths }) => ({
        answer: await ask(model, aggregation(task, paths), run.signal),
      }))
      .addConditionalEdges(
        "__start__",
        () => Array.from({ length: num_parallel_paths }, (_, index) => new Send("think", { index })),
        ["think"],
      )
      .addEdge("think", "aggregate")
      .compile();
    return (await graph.invoke({}, invocation(run))).answer;
  },
});

function aggregation(task: string, paths: { index: number; text: string }[]): string {
  const texts = paths
    .toSorted((left, right) => left.index - right.index)
    .map(({ index, text }) => `Path ${index + 1}:\n${text}`);
  return (
    `The problem below was solved ${texts.length} times independently.\n\n${texts.join("\n\n")}\n\n` +
    "Compare the solutions. Where they agree, follow them; where they differ, decide which reasoning holds. " +
    `Give the final answer between <answer></answer> tags.\n\nProblem: ${task}`
  );
}
