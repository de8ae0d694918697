import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { defineResourcesServer, type JsonObject } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { createTestServer, messageItem, modelResponse, skipWithoutBubblewrap } from "nemo-gym/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import harbor from "../../resources_servers/harbor/app.ts";
import own from "../../responses_api_agents/terminus_2_agent/app.ts";
import inSession from "../../responses_api_agents/terminus_2_sandboxed_agent/app.ts";
import { turnFormats } from "./turn.ts";

const tasks = fileURLToPath(new URL("../../resources_servers/harbor/data/tasks", import.meta.url));
const answerOf = defineResourcesServer({
  verify: ({ response }) => ({ reward: outputText(response).includes("42") }),
});
const turn = (commands: object[], more: object = {}) =>
  JSON.stringify({ analysis: "", plan: "", commands, ...more });
const typing = (keystrokes: string, duration = 0.3) => turn([{ keystrokes, duration }]);
const done = turn([], { task_complete: true });

interface Message {
  role?: string;
  content: string;
}

/** Runs an agent on one row, with a model that answers with texts, which may depend on what it is shown. */
async function run(options: {
  agent: typeof own;
  environment: typeof harbor;
  turns: ((last: string) => string | undefined)[];
  row?: object;
  environmentConfig?: JsonObject;
  config?: JsonObject;
  tokens?: number;
}) {
  const environment = await createTestServer(options.environment, {
    name: "place",
    config: options.environmentConfig ?? {},
  });
  onTestFinished(() => environment.close());
  const questions: Message[][] = [];
  let turns = [...options.turns];
  const agent = await createTestServer(options.agent, {
    config: {
      resources_server: { type: "resources_servers", name: "place" },
      model_server: { type: "responses_api_models", name: "policy" },
      ...options.config,
    },
    servers: {
      place: environment.app,
      policy(_path, body) {
        const { input } = body as { input: Message[] };
        questions.push(input);
        const text = turns[0]?.(input.at(-1)?.content ?? "");
        // A turn without an answer yet waits for the terminal.
        if (text !== undefined) turns = turns.slice(1);
        const { usage, ...response } = modelResponse(messageItem(text ?? typing("", 0.2)));
        const count = options.tokens ?? 10;
        return {
          ...response,
          usage: { ...usage, input_tokens: count, output_tokens: 0, total_tokens: count },
        };
      },
    },
  });
  onTestFinished(() => agent.close());
  const row = { responses_create_params: { input: [{ role: "user", content: "Do it." }] }, ...options.row };
  const { status, body } = await agent.post("/run", row);
  return { status, body, questions };
}

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

describe.skipIf(skipWithoutBubblewrap || !hasTmux)("terminus_2", () => {
  it("solves a task in the sandbox of the environment, and is asked before it ends", async () => {
    const { status, body, questions } = await run({
      agent: inSession,
      environment: harbor,
      environmentConfig: { tasks_dir: tasks },
      row: { task: "count-lines" },
      turns: [
        () => typing("cd /app; cat logs/*.log | grep -c ERROR > errors.txt; echo exit=$?\n"),
        (shown) => (/exit=0/.test(shown) ? done : undefined),
        (shown) => (/repeat it/.test(shown) ? done : undefined),
      ],
    });
    expect([status, body.reward]).toEqual([200, 1]);
    const input = body.responses_create_params.input as Message[];
    expect(input[0]).toMatchObject({ role: "system", content: turnFormats.json.instructions });
    // The model sees the conversation that the result contains.
    expect(questions.at(-1)).toHaveLength(input.length + body.response.output.length - 1);
    expect(body.response.output.at(-1)).toMatchObject({ type: "message", role: "assistant" });
  });

  it("works in a sandbox of its own, repairs unreadable turns, and shortens long conversations", async () => {
    const { body, questions } = await run({
      agent: own,
      environment: answerOf,
      config: { parser_name: "xml", max_input_tokens: 100, proactive_summarization_threshold: 50 },
      tokens: 60,
      row: {
        responses_create_params: {
          input: [
            { role: "system", content: "Be brief." },
            { role: "user", content: "6*7?" },
          ],
        },
      },
      turns: [
        () => "no turn",
        () => "SUMMARY",
        (shown) => (/cannot be read/.test(shown) ? xml("echo $((6*7))\n") : "wrong"),
        () => "SUMMARY",
        () => `It is 42. ${xml("", true)}`,
        () => "SUMMARY",
        () => `It is 42. ${xml("", true)}`,
      ],
    });
    expect(body.reward).toBe(1);
    expect(questions[0]?.[0]?.content).toMatch(/<commands>.*Be brief\.$/s);
    // The question after the first summary: instructions, summary, last output.
    const [instructions, summary, last, ...others] = questions[2] ?? [];
    expect(instructions?.content).toBe(questions[0]?.[0]?.content);
    expect(summary?.content).toMatch(/\n\nSUMMARY$/);
    expect(last?.content).toContain("cannot be read");
    expect(others).toEqual([]);
    expect(body.response.usage.input_tokens).toBe(7 * 60);
  });

  it("fails if the environment has no terminal", async () => {
    const { status, body } = await run({
      agent: inSession,
      environment: answerOf,
      turns: [() => typing("ls\n")],
    });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain("terminus_2_agent");
  });
});

const xml = (keystrokes: string, isComplete = false) =>
  `<response><commands><keystrokes duration="0.2">${keystrokes}</keystrokes></commands><task_complete>${isComplete}</task_complete></response>`;
