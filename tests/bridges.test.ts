import { spawn } from "node:child_process";
import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { type MockAnswer, MockModelEndpoint, skipWithoutBubblewrap } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import { OpenEnvDouble } from "../resources_servers/openenv/openenv-double.ts";
import { networkVariables, project, repository, runGym } from "./gym-process.ts";

/** Interpreters with the real libraries: `verifiers` (and uv), `fhaviary`, `openenv-core`, and pyyaml. */
const { NEMO_GYM_TEST_BRIDGES: bridges, NEMO_GYM_TEST_PYTHON: python } = process.env;
if (!bridges)
  console.info(
    "The verifiers and OpenEnv libraries are not tested: set NEMO_GYM_TEST_BRIDGES to a Python that has them.",
  );

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type Answer = (conversation: string, tools: string[]) => MockAnswer;

/** Creates an environment with `gym env init --from`, runs it once per row, and returns the result rows. */
async function run(options: {
  from: string[];
  answer: Answer;
  files?: Record<string, string>;
  prepare?: (cwd: string) => Promise<void>;
  words?: string[];
  env?: Record<string, string>;
}) {
  const endpoint = await new MockModelEndpoint({
    answer: ({ body }) => {
      const tools = ((body["tools"] ?? []) as { name?: string }[]).map(({ name }) => name ?? "");
      return options.answer(JSON.stringify(body["input"] ?? body["messages"]), tools);
    },
  }).start();
  ends.push(() => endpoint.close());
  const cwd = await project(options.files ?? {});
  await options.prepare?.(cwd);
  const made = await runGym(["env", "init", "--from", ...options.from, "--name", "abroad"], { cwd });
  expect(made.exitCode, made.stderr).toBe(0);
  const model = ["--model-type", "openai_model", "--model-url", endpoint.baseUrl, "--model", "m"];
  const finished = await runGym(
    [
      ...["eval", "run", "--environment", "abroad", ...model, "--model-api-key", "k", "-o", "out.jsonl"],
      ...(options.words ?? []),
    ],
    { cwd, env: options.env ?? {} },
  );
  const text = finished.stderr + finished.stdout;
  const lines = (await readFile(path.join(cwd, "out.jsonl"), "utf8").catch(() => "")).split("\n");
  const rows = lines.filter(Boolean).map((line) => JSON.parse(line));
  return { cwd, text, rows: rows.sort((a, b) => a._ng_task_index - b._ng_task_index) };
}
const kinds = (row: { response: { output: { type: string }[] } }) =>
  row.response.output.map(({ type }) => type);
const TURNS = ["function_call", "function_call_output", "message"];

it.skipIf(skipWithoutBubblewrap)(
  "runs Harbor tasks with a shell for the model and the tests of the task for the reward",
  async () => {
    const { rows, text } = await run({
      from: ["harbor", "./tasks"],
      async prepare(cwd) {
        const tasks = path.join(repository, "resources_servers/harbor/data/tasks");
        for (const task of ["count-lines", "fix-sum"])
          await cp(path.join(tasks, task), path.join(cwd, "tasks", task), { recursive: true });
      },
      answer(conversation, tools) {
        expect(tools).toEqual(["bash"]);
        if (conversation.includes("exit_code")) return { text: "Done." };
        const command = conversation.includes("ERROR")
          ? "cat logs/*.log | grep -c ERROR > errors.txt"
          : "sed -i 's/ if word.isdigit()//' sum.py";
        return { toolCalls: [{ name: "bash", arguments: { command } }] };
      },
    });
    expect(text).toContain("2 of 2 rollouts scored");
    expect(rows.map(({ task, reward }) => [task, reward])).toEqual([
      ["count-lines", 1],
      ["fix-sum", 1],
    ]);
    expect(rows.map(kinds)).toEqual([TURNS, TURNS]);
    expect(rows[1].rewards).toEqual({ reward: 1, passed: 3 });
  },
);

/** Returns the length of the message, and a tenth of it as the reward. */
const echo =
  () =>
  ({ type, data }: { type: string; data: Record<string, unknown> }) => {
    if (type === "close") return undefined;
    const length = String(data["message"] ?? "").length;
    return { type: "observation", data: { observation: { length }, reward: length / 10, done: false } };
  };
const sayHello: Answer = (conversation, tools) => {
  expect(tools).toContain("step");
  if (conversation.includes("function_call_output")) return { text: "Done." };
  return { toolCalls: [{ name: "step", arguments: { message: "hello" } }] };
};

it("runs an environment behind an OpenEnv server", async () => {
  const schema = { type: "object", properties: { message: { type: "string" } }, required: ["message"] };
  const double = await OpenEnvDouble.start(schema, echo as never);
  ends.push(() => double.close());
  const { rows, text } = await run({ from: ["openenv", double.url], answer: sayHello });
  expect(text).toContain("1 of 1 rollouts scored");
  expect(rows[0].reward).toBe(0.5);
  expect(kinds(rows[0])).toEqual(TURNS);
  // The model and the result have the observation of `reset`.
  expect(rows[0].responses_create_params.input).toMatchObject([
    { content: "Act in the environment until the episode ends." },
    { content: 'The environment shows:\n{"length":0}' },
  ]);
  await expect.poll(() => double.sockets.size).toBe(0);
});

const story: Answer = (_, tools) => {
  expect(tools).toContain("print_story");
  return { toolCalls: [{ name: "print_story", arguments: { story: "A ship came home safely" } }] };
};

describe.skipIf(!python && !process.env["CI"])("environments of Python libraries", () => {
  const words = [`+python_executable=${python}`];

  it("runs a task dataset of Aviary", async () => {
    const { rows, text } = await run({ from: ["aviary", "dummy"], answer: story, words });
    expect(text).toContain("5 of 5 rollouts scored");
    expect(rows.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1]);
    expect(kinds(rows[0])).toEqual(["function_call", "function_call_output"]);
    expect(rows[0].response.usage).toMatchObject({ input_tokens: 10 });
  });

  it("runs a taskset through the interface of verifiers", async () => {
    const { rows, text, cwd } = await run({
      from: ["verifiers", "doubles"],
      answer: (conversation) => ({ text: conversation.includes("2 + 2") ? "four" : "I do not know" }),
      words: [...words, "+num_samples_in_parallel=2"],
      env: { PYTHONPATH: path.join(repository, "tests/support/verifiers-double") },
    });
    // The taskset has three tasks, the example rows name five.
    expect(text).toContain("3 of 5 rollouts scored");
    expect(await readFile(path.join(cwd, "out_failures.jsonl"), "utf8")).toContain(
      "task_idx is 4, but doubles has 3 tasks",
    );
    expect(rows[1]).toMatchObject({
      task_idx: 1,
      reward: 4,
      rewards: { length: 4 },
      metrics: { words: 1 },
      response: { output: [{ type: "message" }], usage: { input_tokens: 10, ng_model_calls: 1 } },
    });
    expect(rows[1]).not.toHaveProperty("other_traces");
  });

  it("scores one agent of a taskset of several, and keeps prompts, tools and images", async () => {
    const play = (words: string[]) =>
      run({
        from: ["verifiers", "duel"],
        answer: () => ({ text: "four" }),
        words: [...words, "--limit", "1", "-o", "out.jsonl"],
        env: { PYTHONPATH: path.join(repository, "tests/support/verifiers-double") },
      });
    const { rows, text, cwd } = await play(words);
    expect(text).toContain("1 of 1 rollouts scored");
    const question = [
      { type: "input_text", text: "What is 1 + 1?" },
      { type: "input_image", image_url: expect.stringContaining("data:image/png"), detail: "auto" },
    ];
    expect(rows[0]).toMatchObject({
      reward: 4,
      responses_create_params: {
        input: [
          { role: "system", content: "You are the first." },
          { role: "user", content: question },
        ],
        tools: [{ name: "look" }],
      },
      other_traces: [{ agent: "second", reward: -4, output: [{ type: "message" }] }],
    });
    const exported = await runGym(
      ["eval", "export", "--rollouts", "out.jsonl", "--format", "sft", "-o", "sft.jsonl"],
      { cwd },
    );
    expect(exported.exitCode, exported.stderr).toBe(0);
    const { messages } = JSON.parse(await readFile(path.join(cwd, "sft.jsonl"), "utf8"));
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(["system", "user", "assistant"]);
    expect(JSON.stringify(messages[1].content)).toContain("data:image/png");

    const agent = "++abroad.responses_api_agents.abroad.scored_agent";
    expect((await play([...words, `${agent}=second`])).rows[0]).toMatchObject({ reward: -4 });
    expect((await play([...words, `${agent}=third`])).text).toContain(
      "scored_agent: the environment has the agents first, second, not 'third'",
    );
  });
});

describe.skipIf(!bridges)("the libraries themselves", () => {
  const words = [`+python_executable=${bridges}`];

  it("verifiers", { timeout: 180_000 }, async () => {
    const example = path.join(repository, "examples/responses_api_agents/verifiers_sums/sums.py");
    const { rows, text } = await run({
      from: ["verifiers", "sums"],
      // Next to app.py, where Python finds it.
      files: { "responses_api_agents/abroad/sums.py": await readFile(example, "utf8") },
      answer(conversation) {
        const [, left = "", right = ""] = /(\d+) \+ (\d+)/.exec(conversation) ?? [];
        return { text: `It is ${Number(left) + Number(right)}.` };
      },
      words,
      // The library downloads the program of its harness with uv.
      env: networkVariables(),
    });
    expect(text).toContain("5 of 5 rollouts scored");
    expect(rows.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1]);
    expect(rows[0].response.usage).toMatchObject({ input_tokens: 10, ng_model_calls: 1 });
  });

  it("OpenEnv", { timeout: 120_000 }, async () => {
    const cwd = await project({ "world.py": WORLD });
    const port = 18_000 + (process.pid % 1000);
    const server = spawn(bridges ?? "", ["-m", "uvicorn", "world:app", "--port", String(port)], {
      cwd,
      stdio: "ignore",
    });
    ends.push(() => server.kill());
    const url = `http://127.0.0.1:${port}`;
    await expect
      .poll(
        () =>
          fetch(`${url}/health`).then(
            ({ ok }) => ok,
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true);
    const { rows } = await run({ from: ["openenv", url], answer: sayHello });
    expect(rows[0].reward).toBe(0.5);
    expect(rows[0].response.output[1].output).toContain('"length":5');
  });
});

const WORLD = `from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class Say(Action):
    message: str


class Heard(Observation):
    length: int


class World(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self):
        return Heard(length=0, done=False, reward=0.0)

    def step(self, action):
        length = len(action.message)
        return Heard(length=length, done=False, reward=length / 10)

    @property
    def state(self):
        return State()


app = create_app(World, Say, Heard, env_name="world")
`;
