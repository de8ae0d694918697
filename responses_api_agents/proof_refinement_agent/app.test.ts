import { createTestServer, messageItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

/** Proves something with a verifier that accepts only the last of `answers`. */
async function prove(answers: string[], config: object) {
  const asked: Record<string, unknown>[] = [];
  const turns: unknown[] = [];
  const agent = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "lean" },
      model_server: { type: "responses_api_models", name: "model" },
      ...config,
    },
    servers: {
      model: (_path, body) => {
        asked.push(body as Record<string, unknown>);
        const usage = {
          ...{ input_tokens: 1, input_tokens_details: { cached_tokens: 0 } },
          ...{ output_tokens: 2, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 3 },
        };
        return { ...modelResponse(messageItem(answers[asked.length - 1] ?? "")), usage };
      },
      lean: (path, body) => {
        if (!path.endsWith("/verify")) return {};
        const { turn_index, response, header } = body as never as Record<string, never>;
        turns.push([header, turn_index]);
        const accepted = JSON.stringify(response).includes(`"${answers.at(-1)}"`);
        return {
          ...(body as object),
          reward: Number(accepted),
          needs_correction: !accepted,
          correction_prompt: accepted ? null : `Wrong: ${turn_index}`,
        };
      },
    },
  });
  const { body } = await agent.post("/run", {
    responses_create_params: {
      input: [{ role: "user", content: "Prove it." }],
      temperature: 0.5,
      max_output_tokens: 9,
    },
    header: "import Mathlib",
  });
  await agent.close();
  return { body: body as Record<string, never>, asked, turns };
}

it("asks for corrections until a proof is accepted", async () => {
  const { body, asked, turns } = await prove(["a", "b", "c"], { max_correction_turns: 5 });
  expect(asked.map(({ input }) => (input as { content: string }[])[0]?.content)).toEqual([
    "Prove it.",
    "Wrong: 0",
    "Wrong: 1",
  ]);
  expect(asked.map(({ temperature, max_output_tokens }) => [temperature, max_output_tokens])).toEqual([
    [0.5, 9],
    [0.5, undefined],
    [0.5, undefined],
  ]);
  expect(turns).toEqual([0, 1, 2].map((turn) => ["import Mathlib", turn]));
  expect(body).toMatchObject({
    reward: 1,
    total_turns: 3,
    all_attempts: [
      { turn_index: 0, generation: "a", proof_status: "unknown", reward: 0, correction_prompt: "Wrong: 0" },
      { generation: "b", input: [{ content: "Wrong: 0" }] },
      { generation: "c", reward: 1 },
    ],
    response: { usage: { total_tokens: 9 } },
  });
});

it("ends after the last correction", async () => {
  const { body, asked } = await prove(["a", "b", "c"], {
    max_correction_turns: 1,
    include_all_attempts: false,
  });
  expect(asked).toHaveLength(2);
  expect(body).toMatchObject({ reward: 0, total_turns: 2, all_attempts: null });
});
