import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createTestServer, messageItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";
import { codeOf } from "./steps.ts";

const step = (name: string) => ({
  step_description_prompt: `Write ${name}.`,
  step_background: `About ${name}.`,
  function_header: `def ${name}():`,
  return_line: "    return 1",
});

async function run(answers: (string | { status: number; body: object })[], config: object = {}) {
  const prompts: string[] = [];
  let verified: Record<string, unknown> = {};
  const agent = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "science" },
      model_server: { type: "responses_api_models", name: "model" },
      prompt: "{problem_steps_str}|{next_step_str}|{dependencies}",
      ...config,
    },
    servers: {
      model: (_path, body) => {
        prompts.push((body as { input: { content: string }[] }).input[0]?.content ?? "");
        const answer = answers[prompts.length - 1] ?? "";
        return typeof answer === "string" ? modelResponse(messageItem(answer)) : answer;
      },
      science: (_path, body) => {
        verified = body as Record<string, unknown>;
        return { ...verified, reward: 1 };
      },
    },
  });
  const { status } = await agent.post("/run", {
    responses_create_params: { input: [] },
    problem_id: "9",
    required_dependencies: "import numpy as np",
    sub_steps: [step("a"), step("b"), step("c")],
  });
  await agent.close();
  return { status, prompts, solutions: verified["solutions"] };
}

it("asks for each step with the code of the earlier ones", async () => {
  const { prompts, solutions } = await run(["```python\nimport os\na = 1\n```", "b = 2", "c = 3"], {
    with_background: false,
  });
  expect(prompts[1]).toBe("Write a.\n\n\na = 1\n|Write b.\n\ndef b():\n\n    return 1|import numpy as np");
  expect(solutions).toMatchObject({ "9.3": "import numpy as np\n\na = 1\n\nb = 2\n\nc = 3" });
});

it("leaves the steps that no longer fit without a solution", async () => {
  const tooLong = {
    status: 400,
    body: { error: { message: "please reduce the length of the input messages" } },
  };
  expect((await run(["a = 1", tooLong])).solutions).toMatchObject({
    "9.2": "_ran_out_of_context_",
    "9.3": "_ran_out_of_context_",
  });
  expect((await run(["a = 1", { status: 400, body: { error: { message: "no" } } }])).status).not.toBe(200);
});

it("does not ask for steps that are given", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "scicode-"));
  const file = path.join(directory, "given.json");
  writeFileSync(file, JSON.stringify({ "9.1": "a = 0" }));
  const { prompts, solutions } = await run(["b = 2", "c = 3"], { prefilled_steps_fpath: file });
  rmSync(directory, { recursive: true });
  expect(prompts).toHaveLength(2);
  expect(solutions).toEqual({
    "9.2": "import numpy as np\na = 0\n\nb = 2",
    "9.3": "import numpy as np\na = 0\nb = 2\n\nc = 3",
  });
});

it.each([
  ["x ```\na\n``` ```python\nb\n```", "\nb\n"],
  ["```python\nfrom x import (y,\n z)\n```", "\n z)\n".replace("\n z", "\n z")],
  ["```", ""],
])("reads the code of %j", (text, code) => {
  expect(codeOf(text)).toBe(code);
});
