import { Annotation, Send, StateGraph } from "@langchain/langgraph";
import { defineFrameworkAgent, frameworkAgentConfig } from "nemo-gym/agents";
import { laxInt } from "nemo-gym/openai";
import { ask, chatModel, invocation, taskOf } from "./chat-model.ts";

const SUBTASK = /SUBTASK\s+\d+:\s*(.+)/g;

const State = Annotation.Root({
  subtasks: Annotation<string[]>,
  results: Annotation<{ index: number; text: string }[]>({
    reducer: (left, right) => [...left, ...right],
    default: () => [],
  }),
  answer: Annotation<string>,
});

/** Splits the task into subtasks, solves them concurrently in separate conversations, and combines the results. */
export default defineFrameworkAgent({
  name: "OrchestratorAgent",
  config: frameworkAgentConfig.extend({ max_subtasks: laxInt().default(5) }),
  async respond(run) {
    const model = chatModel(run);
    const task = taskOf(run);
    const { max_subtasks } = run.config;
    const graph = new StateGraph(State)
      .addNode("decompose", async () => {
        const text = await ask(model, decomposition(task, max_subtasks), run.signal);
        const found = [...text.matchAll(SUBTASK)].map(([, question = ""]) => question.trim());
        return { subtasks: found.length > 0 ? found.slice(0, max_subtasks) : [task] };
      })
      .addNode("solve", async ({ index, subtask }: { index: number; subtask: string }) => {
        const text = await ask(
          model,
          `Solve this subtask completely and show your work.\n\n${subtask}`,
          run.signal,
        );
        return { results: [{ index, text }] };
      })
      .addNode("synthesize", async ({ subtasks, results }) => ({
        answer: await ask(model, synthesis(task, subtasks, results), run.signal),
      }))
      .addEdge("__start__", "decompose")
      .addConditionalEdges(
        "decompose",
        ({ subtasks }) => subtasks.map((subtask, index) => new Send("solve", { index, subtask })),
        ["solve"],
      )
      .addEdge("solve", "synthesize")
      .compile();
    return (await graph.invoke({}, invocation(run))).answer;
  },
});

const decomposition = (task: string, limit: number) =>
  `Split the problem below into at most ${limit} subtasks. Each must make sense and be solvable without the others. ` +
  "Write one line per subtask:\nSUBTASK 1: <question>\nSUBTASK 2: <question>\n" +
  `A problem that needs no splitting is the only subtask.\n\nProblem: ${task}`;

function synthesis(task: string, subtasks: string[], results: { index: number; text: string }[]): string {
  const solved = subtasks.map((subtask, index) => {
    const result = results.find((candidate) => candidate.index === index)?.text ?? "";
    return `Subtask ${index + 1}: ${subtask}\nResult: ${result}`;
  });
  return (
    `This problem was split into subtasks, which have been solved.\n\nProblem: ${task}\n\n${solved.join("\n\n")}\n\n` +
    "Combine the results into one answer. Reason first, then give the final answer between <answer></answer> tags."
  );
}
