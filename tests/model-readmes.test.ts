import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { AnthropicDouble } from "../src/testing/anthropic-double.ts";
import type { EndpointRequest, EndpointServer } from "../src/testing/endpoint-server.ts";
import { type MockAnswer, MockModelEndpoint } from "../src/testing/mock-model-endpoint.ts";
import { VllmDouble } from "../src/testing/vllm-double.ts";
import { project, repository } from "./gym-process.ts";

const answer = (_: EndpointRequest): MockAnswer => ({ text: "It is cold." });

interface Example {
  endpoint: () => EndpointServer;
  /** The config key that selects the double instead of the address in the README. */
  urlKey: string;
  base?: string;
}

const mock: Example = { endpoint: () => new MockModelEndpoint({ answer }), urlKey: "base_url", base: "/v1" };
const litellm = () =>
  new MockModelEndpoint({
    answer,
    other: ({ path: asked }) =>
      asked === "/health/readiness/details" ? { body: { litellm_version: "1.83.0" } } : undefined,
  });

/** READMEs whose first block is a run that only needs an endpoint. */
const EXAMPLES: Readonly<Record<string, Example>> = {
  openai_model: { ...mock, urlKey: "openai_base_url" },
  azure_openai_model: { ...mock, urlKey: "openai_base_url", base: "" },
  inference_provider: mock,
  litellm_model: { endpoint: litellm, urlKey: "openai_base_url", base: "/v1" },
  switchyard_model: { ...mock, urlKey: "switchyard_base_url" },
  anthropic_model: { endpoint: () => new AnthropicDouble({ answer }), urlKey: "base_url" },
  vllm_model: {
    endpoint: () => new VllmDouble({ model: "Qwen/Qwen3-4B", answer }),
    urlKey: "base_url",
    base: "/v1",
  },
};

function blockOf(server: string): string {
  const readme = readFileSync(path.join(repository, "responses_api_models", server, "README.md"), "utf8");
  return /```bash\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
}

/** The commands of a block; a backslash at the end of a line continues a command. */
function commandsOf(block: string): string[] {
  return block.trimEnd().split(/\n(?! )/);
}

/** The same command with another address. */
function leadTo(command: string, url: string, key: string): string {
  const given = /--model-url \S+/;
  return given.test(command) ? command.replace(given, `--model-url ${url}`) : `${command} ${key}=${url}`;
}

/** Runs a block in a shell where `gym` is this build, with additional arguments after each command. */
async function shell(block: string, more: readonly string[]) {
  const cwd = await project({
    "bin/gym": `#!/bin/sh\nexec "${process.execPath}" "${path.join(repository, "bin/gym.js")}" "$@" $MORE\n`,
  });
  await promisify(execFile)("chmod", ["+x", path.join(cwd, "bin/gym")]);
  const env = {
    PATH: `${path.join(cwd, "bin")}:${process.env["PATH"]}`,
    HOME: cwd,
    MORE: more.join(" "),
    ...Object.fromEntries(
      ["OPENAI", "AZURE_OPENAI", "TOGETHER", "ANTHROPIC"].map((name) => [
        `${name}_API_KEY`,
        "key-0123456789",
      ]),
    ),
    LITELLM_KEY: "key-0123456789",
  };
  return promisify(execFile)("sh", ["-ec", block], { cwd, env, timeout: 60_000 });
}

describe.each(Object.entries(EXAMPLES))("the README of %s", (server, { endpoint, urlKey, base = "" }) => {
  it("has commands that run", { timeout: 90_000 }, async () => {
    const started = await endpoint().start();
    onTestFinished(() => started.close());
    const url = `${started.origin}${base}`;
    const key = `++policy_model.responses_api_models.${server}.${urlKey}`;
    const block = commandsOf(blockOf(server)).map((command) => leadTo(command, url, key));
    const { stdout } = await shell(block.join("\n"), [
      "--limit 1",
      "+model_endpoint_readiness_timeout_seconds=0",
    ]);
    expect(stdout).toContain("Coverage: 1 of 1 rollouts scored");
    expect(started.count).toBeGreaterThan(0);
  });
});

describe.each(["local_vllm_model", "local_vllm_model_proxy", "genrm_model", "ai_sdk_model"])(
  "the README of %s",
  (server) => {
    it("has a command whose config resolves", { timeout: 60_000 }, async () => {
      const [command = ""] = commandsOf(blockOf(server));
      const resolve = command.replace(/gym (?:env start|eval run)/, "gym env resolve");
      const { stdout } = await shell(resolve, []);
      expect(stdout).toContain(`${server}:`);
    });
  },
);
