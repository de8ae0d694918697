import { Annotation, StateGraph } from "@langchain/langgraph";
import { defineFrameworkAgent, type GymTool, IncompleteRun } from "nemo-gym/agents";
import { ask, chatModel, invocation, taskOf } from "./chat-model.ts";

const STEP = /Plan:\s*(.+?)\s*(#E\d+)\s*=\s*(\w+)\s*\[([^\]]+)\]/g;

interface Step {
  plan: string;
  name: string;
  tool: string;
  input: string;
}

const State = Annotation.Root({
  steps: Annotation<Step[]>,
  evidence: Annotation<Record<string, string>>({
    reducer: (left, right) => ({ ...left, ...right }),
    default: () => ({}),
  }),
  answer: Annotation<string>,
});

/** Reasoning without observation: plans all steps at once, executes them, and answers from their results. */
export default defineFrameworkAgent({
  name: "ReWooAgent",
  async respond(run) {
    const model = chatModel(run);
    const task = taskOf(run);
    const graph = new StateGraph(State)
      .addNode("plan", async () => {
        const text = await ask(model, planning(task, run.tools), run.signal);
        const steps = [...text.matchAll(STEP)].map(([, plan = "", name = "", tool = "", input = ""]) => ({
          plan,
          name,
          tool,
          input,
        }));
        return { steps };
      })
      .addNode("work", async ({ steps, evidence }) => {
        const step = steps.find(({ name }) => !Object.hasOwn(evidence, name));
        if (step === undefined) return {};
        const input = filled(step.input, evidence);
        const tool = run.tools.find(({ name }) => name === step.tool);
        const text = tool === undefined ? await ask(model, input, run.signal) : await tool.run(input);
        return { evidence: { [step.name]: text } };
      })
      .addNode("solve", async ({ steps, evidence }) => ({
        answer: await ask(model, solving(task, steps, evidence), run.signal),
      }))
      .addEdge("__start__", "plan")
      .addConditionalEdges("plan", nextNode)
      .addConditionalEdges("work", nextNode)
      .compile();
    const { answer } = await graph.invoke({}, invocation(run));
    if (answer === undefined) throw new IncompleteRun("no_answer");
    return answer;
  },
});

const nextNode = ({ steps, evidence }: { steps: Step[]; evidence: Record<string, string> }) =>
  steps.every(({ name }) => Object.hasOwn(evidence, name)) ? "solve" : "work";

/** Replaces `#E1` in a text with the result of step 1. */
const filled = (text: string, evidence: Record<string, string>) =>
  text.replace(/#E\d+/g, (name) => (Object.hasOwn(evidence, name) ? (evidence[name] ?? "") : name));

function planning(task: string, tools: GymTool[]): string {
  const available = [
    "LLM[input]: a language model, for knowledge and reasoning. The input is any instruction.",
    ...tools.map(
      ({ name, description, parameters }) =>
        `${name}[input]: ${description} The input is a JSON object of this schema: ${JSON.stringify(parameters)}`,
    ),
  ];
  return (
    "Plan how to solve the task. Each step uses one tool and stores its result as #E1, #E2 and so on; " +
    `later inputs may use these names.\n\nTools:\n${available.join("\n")}\n\n` +
    "Write each step on one line, as in this example:\n" +
    "Plan: Set up an equation for the price of one apple and solve it. #E1 = LLM[Solve 3a + 2 = 14]\n" +
    "Plan: Compute the price of five apples. #E2 = LLM[What is 5 times the value found in: #E1]\n\n" +
    `Task: ${task}`
  );
}

function solving(task: string, steps: Step[], evidence: Record<string, string>): string {
  const lines = steps.map(
    ({ plan, name, tool, input }) =>
      `Plan: ${plan}\n${name} = ${tool}[${filled(input, evidence)}]\nEvidence: ${evidence[name] ?? ""}`,
  );
  return (
    `Solve the task with the evidence that was gathered. Some of it may be irrelevant.\n\n${lines.join("\n\n")}\n\n` +
    `Answer directly, with the final answer between <answer></answer> tags.\n\nTask: ${task}`
  );
}
