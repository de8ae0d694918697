import { dumps } from "../../python/json/json-dumps.ts";
import { PyFloat } from "../../python/numbers/py-float.ts";
import type { ScaffoldFiles } from "./files.ts";

/** Questions with undisputed answers, so that a new server can run at once. */
const EXAMPLES = [
  ["How many legs does a spider have?", "8"],
  ["What is 17 + 25?", "42"],
  ["Which planet is closest to the Sun?", "Mercury"],
  ["What colour do blue and yellow paint make?", "green"],
  ["In which month does the year begin?", "January"],
] as const;

const INSTRUCTION = "Write your answer alone on the last line.";

/** A resources server that runs, validates and passes its own test. */
export function resourcesServerFiles(name: string): ScaffoldFiles {
  const folder = `resources_servers/${name}`;
  return {
    [`${folder}/app.ts`]: app(),
    [`${folder}/app.test.ts`]: appTest(),
    [`${folder}/tests/verifier_cases.jsonl`]: verifierCases(),
    [`${folder}/configs/${name}.yaml`]: config(name),
    [`${folder}/data/example.jsonl`]: exampleRows(),
    [`${folder}/data/.gitignore`]: DATA_GITIGNORE,
    [`${folder}/README.md`]: readme(name),
  };
}

/** Larger data is downloaded, and what commands write beside it is temporary. */
export const DATA_GITIGNORE = `*train.jsonl
*validation.jsonl
*_prepare.jsonl
*_metrics_conflict.json
example_rollouts_*
`;

function app(): string {
  return `import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { z } from "zod";

export default defineResourcesServer({
  /** What \`verify\` reads of each row of the dataset. */
  row: z.object({ expected_answer: z.string() }),
  // State that lives as long as one rollout, made from its row:
  // session: ({ row }) => ({ ... }),
  tools: {
    // What the model may call, over HTTP and MCP:
    // get_weather: {
    //   description: "Tell the weather in a city.",
    //   input: z.object({ city: z.string() }),
    //   run: ({ input }) => ({ city: input.city, weather_description: \`The weather in \${input.city} is cold.\` }),
    // },
  },
  /** A malformed answer is a reward of 0, never an exception. */
  verify: ({ row, response }) => ({
    reward: lastLine(outputText(response)) === normalize(row.expected_answer) ? 1 : 0,
  }),
  reverifyMode: "stateless",
});

function lastLine(text: string): string {
  return normalize(text.trimEnd().split("\\n").at(-1) ?? "");
}

function normalize(text: string): string {
  return text.trim().toLowerCase();
}
`;
}

function appTest(): string {
  return `import { readFileSync } from "node:fs";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const rows = readFileSync(new URL("data/example.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\\n")
  .map((line) => JSON.parse(line) as { expected_answer: string });

async function rewardOf(row: { expected_answer: string }, ...answer: string[]): Promise<number> {
  const server = await createTestServer(definition);
  const { status, body } = await server.verify(verifyBody(row, messageItem(...answer)));
  await server.close();
  expect(status).toBe(200);
  return body.reward;
}

describe("verify", () => {
  it.each(rows)("rewards the expected answer: $expected_answer", async (row) => {
    expect(await rewardOf(row, \`Let me think.\\n\${row.expected_answer}\`)).toBe(1);
  });

  it("gives nothing for other answers", async () => {
    expect(await rewardOf({ expected_answer: "8" }, "7")).toBe(0);
    expect(await rewardOf({ expected_answer: "8" }, "8 or 9")).toBe(0);
    expect(await rewardOf({ expected_answer: "8" }, "")).toBe(0);
    expect(await rewardOf({ expected_answer: "8" })).toBe(0);
  });

  it("refuses rows without an expected answer", async () => {
    const server = await createTestServer(definition);
    expect((await server.verify(verifyBody({}, messageItem("8")))).status).toBe(422);
    await server.close();
  });
});
`;
}

function config(name: string): string {
  const dataset = (type: string) => `      - name: ${type}
        type: ${type}
        jsonl_fpath: resources_servers/${name}/data/${type}.jsonl
        license: Apache 2.0
`;
  return serverConfig(name, { domain: "other", datasets: dataset("train") + dataset("validation") });
}

interface ServerConfig {
  readonly domain: string;
  readonly agent?: string;
  /** Further lines of the server's block, of the agent's block, and datasets before the example. */
  readonly serverKeys?: string;
  readonly agentKeys?: string;
  readonly datasets?: string;
}

/** The config of a resources server and of an agent that runs its example rows. */
export function serverConfig(
  name: string,
  { domain, agent = "simple_agent", serverKeys = "", agentKeys = "", datasets = "" }: ServerConfig,
): string {
  return `${name}_resources_server:
  resources_servers:
    ${name}:
      entrypoint: app.ts
      domain: ${domain}
${serverKeys}${name}_${agent}:
  responses_api_agents:
    ${agent}:
      entrypoint: app.ts
      resources_server:
        type: resources_servers
        name: ${name}_resources_server
      model_server:
        type: responses_api_models
        name: policy_model
${agentKeys}      datasets:
${datasets}      - name: example
        type: example
        jsonl_fpath: resources_servers/${name}/data/example.jsonl
`;
}

/** Rows as the commands read them: the question for the model, and what the verifier needs. */
export function exampleRows(): string {
  return EXAMPLES.map(([question, expected_answer]) => {
    const input = [{ role: "user", content: `${question}\n\n${INSTRUCTION}` }];
    return `${JSON.stringify({ responses_create_params: { input }, expected_answer })}\n`;
  }).join("");
}

/** The expected rewards of a right, a wrong and a malformed answer, as the commands write the file. */
function verifierCases(): string {
  const [[question, expected_answer]] = EXAMPLES;
  const row = {
    responses_create_params: { input: [{ role: "user", content: `${question}\n\n${INSTRUCTION}` }] },
    expected_answer,
  };
  const request = (answer: string) => ({ ...row, response: recordedResponse(answer) });
  const cases = [
    {
      name: "right answer",
      kind: "full_reward",
      request: request(expected_answer),
      expected_reward: new PyFloat(1),
    },
    { name: "wrong answer", kind: "zero_reward", request: request("7"), expected_reward: new PyFloat(0) },
    { name: "no response", kind: "malformed", request: row, expected_error: "response" },
  ];
  return cases.map((found) => `${dumps(found, { sortKeys: true })}\n`).join("");
}

function recordedResponse(answer: string): object {
  return {
    id: "resp_case",
    created_at: 0,
    model: "case",
    object: "response",
    output: [
      {
        id: "msg_case",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: answer, annotations: [] }],
      },
    ],
    parallel_tool_calls: false,
    tool_choice: "auto",
    tools: [],
  };
}

/** The same rows before a prompt is put around the question. */
export function sourceRows(): string {
  return EXAMPLES.map(
    ([question, expected_answer]) => `${JSON.stringify({ question, expected_answer })}\n`,
  ).join("");
}

export const PROMPT = `user: |-
  {question}

  ${INSTRUCTION}
`;

function readme(name: string): string {
  return `# ${name}

What the model is asked to do, what it can call, and what earns a reward.

| Part | Where |
| --- | --- |
| Tools, state and verifier | \`app.ts\` |
| Tests | \`app.test.ts\` |
| What right, wrong and malformed answers earn | \`tests/verifier_cases.jsonl\` |
| Config of the server and of its agent | \`configs/${name}.yaml\` |
| Five example rows | \`data/example.jsonl\` |

## Row

| Field | Meaning |
| --- | --- |
| \`expected_answer\` | the last line of a right answer, whatever its case |

## Commands

\`\`\`bash
gym env validate --resources-server ${name}
gym env test --resources-server ${name}
gym eval run --resources-server ${name} --model-type random_model --output results/${name}.jsonl
gym dataset collate --resources-server ${name} --mode example_validation --output-dir results/${name}
gym env audit ${name}
\`\`\`

## Licensing

Code: Apache 2.0. Data: Apache 2.0.
`;
}
