import type { ScaffoldFiles } from "./files.ts";
import { DATA_GITIGNORE, serverConfig } from "./resources-server.ts";

/** An environment whose answers a second model grades. */
export function judgeFiles(name: string): ScaffoldFiles {
  const folder = `resources_servers/${name}`;
  return {
    [`${folder}/app.ts`]: APP,
    [`${folder}/app.test.ts`]: APP_TEST,
    [`${folder}/prompt.txt`]: PROMPT,
    [`${folder}/configs/${name}.yaml`]: serverConfig(name, { domain: "other", serverKeys: JUDGE_KEYS }),
    [`${folder}/data/example.jsonl`]: exampleRows(),
    [`${folder}/data/.gitignore`]: DATA_GITIGNORE,
    [`${folder}/README.md`]: readme(name),
  };
}

const APP = `import { createJudge, defineResourcesServer, judgeConfig, loadPromptText } from "nemo-gym";
import { lastAssistantText } from "nemo-gym/openai";
import { lastLabel } from "nemo-gym/verify";
import { z } from "zod";

const GOOD = "[[GOOD]]";
const BAD = "[[BAD]]";

export default defineResourcesServer({
  config: z.object(judgeConfig),
  row: z.object({ question: z.string(), guideline: z.string() }),
  /** A prompt that is missing, or asks for something else, is found here and not in the first rollout. */
  start: async (server) => ({
    judge: createJudge(server, server.config),
    prompt: await loadPromptText(server, "prompt.txt", ["question", "guideline", "answer"]),
  }),
  async verify({ row, response, state: { judge, prompt }, signal }) {
    const answer = lastAssistantText(response);
    if (answer === "") return { reward: 0, verdict: null };
    // A judge that cannot be asked is a failure of the rollout, not a reward of 0.
    const { text, verdict } = await judge.ask(prompt.render({ ...row, answer: judge.fit(answer) }), {
      signal,
      parse: (text) => lastLabel(text, [GOOD, BAD]),
    });
    return { reward: verdict === GOOD ? 1 : 0, verdict, judge_text: text };
  },
});
`;

const PROMPT = `Grade an answer.

Question: {question}
What a good answer has: {guideline}
Answer: {answer}

Think first. End with [[GOOD]] or [[BAD]].
`;

const APP_TEST = `import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const row = { question: "Why is the sky blue?", guideline: "It names scattering." };

async function judged(verdict: string | undefined, ...answer: string[]) {
  const server = await createTestServer(definition, {
    config: { judge_model_server: { type: "responses_api_models", name: "judge" } },
    directory: fileURLToPath(new URL(".", import.meta.url)),
    servers: {
      judge() {
        if (verdict === undefined) throw new Error("connection refused");
        return { output: [messageItem(verdict)] };
      },
    },
  });
  const { body } = await server.verify(verifyBody(row, ...answer.map((text) => messageItem(text))));
  await server.close();
  return body;
}

it("goes by the last verdict of the judge", async () => {
  expect(await judged("Not [[BAD]]: [[GOOD]]", "Scattering.")).toMatchObject({ reward: 1 });
  expect(await judged("[[BAD]]", "Paint.")).toMatchObject({ reward: 0, verdict: "[[BAD]]" });
  expect(await judged("I cannot say.", "Paint.")).toMatchObject({ reward: 0, verdict: null });
});

it("asks nobody about an empty answer, and has no score without a judge", async () => {
  expect(await judged(undefined)).toMatchObject({ reward: 0 });
  expect(await judged(undefined, "Scattering.")).toMatchObject({ _ng_failure_class: "judge_failed" });
});
`;

const JUDGE_KEYS = `      # The model under test grades itself until you name another model server here.
      judge_model_server:
        type: responses_api_models
        name: policy_model
      judge_responses_create_params:
        input: []
        temperature: 0
        max_output_tokens: 512
`;

const EXAMPLES = [
  ["Why is the sky blue?", "It names scattering."],
  ["Why do we have leap years?", "It says that a year is longer than 365 days."],
  ["Why does ice float?", "It says that ice is less dense than water."],
  ["Why do we see lightning first?", "It compares the speeds of light and sound."],
  ["Why do leaves change colour?", "It mentions chlorophyll."],
] as const;

function exampleRows(): string {
  return EXAMPLES.map(([question, guideline]) => {
    const input = [{ role: "user", content: question }];
    return `${JSON.stringify({ responses_create_params: { input }, question, guideline })}\n`;
  }).join("");
}

function readme(name: string): string {
  return `# ${name}

What the model is asked, and what the judge looks for (\`prompt.txt\`).

| Field of a row | Meaning |
| --- | --- |
| \`question\` | what the model was asked |
| \`guideline\` | what a good answer has |

\`judge_model_server\` in \`configs/${name}.yaml\` names the model that judges. Use another one than the model under test.

\`\`\`bash
gym env test --resources-server ${name}
gym eval run --resources-server ${name} --model-type random_model --output results/${name}.jsonl
\`\`\`

## Licensing

Code: Apache 2.0. Data: Apache 2.0.
`;
}
