import { pascalCase, type ScaffoldFiles } from "./files.ts";

/** A model server that answers by itself; the place to call a backend is marked. */
export function modelFiles(name: string): ScaffoldFiles {
  const folder = `responses_api_models/${name}`;
  return {
    [`${folder}/app.ts`]: app(name),
    [`${folder}/app.test.ts`]: APP_TEST,
    [`${folder}/configs/${name}.yaml`]: config(name),
    [`${folder}/README.md`]: readme(name),
  };
}

function app(name: string): string {
  return `import { defineModel } from "nemo-gym";
import { newId, responseEnvelope } from "nemo-gym/openai";
import { z } from "zod";

export default defineModel({
  name: "${pascalCase(name)}",
  config: z.looseObject({ reply: z.string().default("I do not know.") }),
  /** Chat Completions, Anthropic Messages and streams are served from this by conversion. */
  async responses({ params, config }) {
    // Call your backend here, with \`signal\`; what it answers becomes output items.
    const text = config.reply;
    return {
      ...responseEnvelope(params, { model: "${name}", createdAt: Math.floor(Date.now() / 1000) }),
      output: [
        {
          id: newId("msg"),
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text, annotations: [] }],
        },
      ],
    };
  },
});
`;
}

const APP_TEST = `import { createTestServer } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

it("answers in both dialects", async () => {
  const server = await createTestServer(definition, { config: { reply: "Good morning." } });
  const responses = await server.post("/v1/responses", { input: "Hello" });
  const chat = await server.post("/v1/chat/completions", { messages: [{ role: "user", content: "Hello" }] });
  await server.close();
  expect(responses.body.output[0].content[0].text).toBe("Good morning.");
  expect(chat.body.choices[0].message.content).toBe("Good morning.");
});
`;

function config(name: string): string {
  return `policy_model:
  responses_api_models:
    ${name}:
      entrypoint: app.ts
      reply: I do not know.
`;
}

function readme(name: string): string {
  return `# ${name}

Which backend this model server speaks to, and what its config keys mean.

| Key | Meaning |
| --- | --- |
| \`reply\` | what every question is answered with |

\`\`\`bash
gym env test +entrypoint=responses_api_models/${name}
gym eval run --resources-server example_single_tool_call --model-type ${name} --output results/${name}.jsonl
\`\`\`

## Licensing

Code: Apache 2.0.
`;
}
