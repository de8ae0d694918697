import { pascalCase, type ScaffoldFiles } from "./files.ts";

/**
 * An agent with a loop of its own: ask the model, run its tool calls, until it answers. With `ownsEpisode` it has a `run` too,
 * the place where a framework takes the whole episode over.
 */
export function agentFiles(name: string, { ownsEpisode = false } = {}): ScaffoldFiles {
  const folder = `responses_api_agents/${name}`;
  return {
    [`${folder}/app.ts`]: ownsEpisode ? withRun(app(name)) : app(name),
    [`${folder}/app.test.ts`]: APP_TEST,
    [`${folder}/configs/${name}.yaml`]: config(name),
    [`${folder}/README.md`]: readme(name),
  };
}

function config(name: string): string {
  return `${name}:
  responses_api_agents:
    ${name}:
      entrypoint: app.ts
      resources_server:
        type: resources_servers
        name: ???
      model_server:
        type: responses_api_models
        name: policy_model
      max_steps: 8
`;
}

function app(name: string): string {
  return `import { defineAgent, loopAgentConfig, toolLoop } from "nemo-gym";

export default defineAgent({
  name: "${pascalCase(name)}",
  config: loopAgentConfig,
  responses(args) {
    return toolLoop(args, {
      /** What the model is asked: shorten or rewrite the conversation here. */
      question: (conversation) => conversation,
      /** A tool call: refuse it, change it or answer it yourself here. */
      runCall: (_call, byServer) => byServer(),
      /** The model has answered: return further messages to go on with the conversation. */
      answered: () => undefined,
    });
  },
});
`;
}

/** The same with the whole episode in its hands. */
function withRun(text: string): string {
  const imports = 'from "nemo-gym";\n';
  return text.replace(imports, `${imports}import { standardRun } from "nemo-gym/agents";\n`).replace(
    "  responses(args) {",
    `  /** The whole episode: hand it to a framework here, and what the framework did to the verifier. */
  run(args) {
    return standardRun(args);
  },
  responses(args) {`,
  );
}

const APP_TEST = `import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

it("runs the tool calls of the model, then verifies its answer", async () => {
  const turns = [[functionCallItem("look", { where: "up" })], [messageItem("A cloud.")]];
  const called: string[] = [];
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "world" },
      model_server: { type: "responses_api_models", name: "model" },
    },
    servers: {
      model: () => verifyBody({}, ...(turns.shift() ?? [])).response,
      world: (path, body) => {
        called.push(path);
        return path === "/verify" ? { ...(body as object), reward: 1 } : { seen: "a cloud" };
      },
    },
  });
  const { status, body } = await server.post("/run", {
    responses_create_params: { input: "What is up there?" },
  });
  await server.close();
  expect(status).toBe(200);
  expect(called).toEqual(["/seed_session", "/look", "/verify"]);
  expect(body.reward).toBe(1);
  expect(body.response.output.map((item: { type: string }) => item.type)).toEqual([
    "function_call",
    "function_call_output",
    "message",
  ]);
});
`;

function readme(name: string): string {
  return `# ${name}

How this agent differs from \`simple_agent\`, and which environments it fits.

\`--agent-type ${name}\` runs an environment with this agent instead of its own.

\`\`\`bash
gym env test +entrypoint=responses_api_agents/${name}
gym eval run --resources-server example_single_tool_call --agent-type ${name} --model-type random_model --output results/${name}.jsonl
\`\`\`

## Licensing

Code: Apache 2.0.
`;
}
