import { spawn } from "node:child_process";
import path from "node:path";
import { expect, it } from "vitest";
import { MockModelEndpoint } from "../src/testing/mock-model-endpoint.ts";
import { repository } from "./gym-process.ts";

/** Runs an example like a reader. */
function runExample(name: string, env: Record<string, string> = {}) {
  const file = path.join(repository, "examples", name);
  const child = spawn(process.execPath, ["--import", "jiti/register", file], {
    cwd: repository,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  return new Promise<{ exitCode: number | null; text: string }>((resolve) =>
    child.on("close", (exitCode) => resolve({ exitCode, text })),
  );
}

it("evaluates an environment of the program with an endpoint", async () => {
  const endpoint = new MockModelEndpoint({ answer: () => ({ text: "It is Oslo." }) });
  await endpoint.start();
  try {
    const { exitCode, text } = await runExample("evaluate-in-code.ts", {
      MODEL_URL: endpoint.baseUrl,
      MODEL_NAME: "m",
    });
    expect(exitCode, text).toBe(0);
    expect(text.match(/task \d: completed/g)).toHaveLength(8);
    expect(text).toContain("8 rollouts, reward 0.5, 95 % interval [");
  } finally {
    await endpoint.close();
  }
});

it("compares, exports and rescores its results", async () => {
  const { exitCode, text } = await runExample("results-in-code.ts");
  expect(exitCode, text).toBe(0);
  expect(text).toMatch(/difference .*, better on \d tasks, worse on \d/);
  expect(text).toMatch(/\d pairs from 8 rollouts/);
  expect(text).toContain("8 rollouts scored again");
});

it("starts servers, calls them and exits", async () => {
  const { exitCode, text } = await runExample("servers-in-code.ts");
  expect(exitCode, text).toBe(0);
  expect(text).toContain("example_single_tool_call_simple_agent http://127.0.0.1:");
  expect(text).toMatch(/^200$/m);
});

it("streams an agent to the official client", async () => {
  const endpoint = new MockModelEndpoint({
    answer: ({ body }) => {
      const items = body["input"] as { type?: string; output?: string }[];
      const last = items.at(-1);
      if (last?.type === "function_call_output") return { text: `I looked: ${last.output}` };
      const city = JSON.stringify(last).includes("Bergen") ? "Bergen" : "Oslo";
      return { toolCalls: [{ name: "get_weather", arguments: { city } }] };
    },
  });
  await endpoint.start();
  try {
    const { exitCode, text } = await runExample("chat-with-an-agent.ts", {
      MODEL_URL: endpoint.baseUrl,
      MODEL_NAME: "m",
    });
    expect(exitCode, text).toBe(0);
    for (const city of ["Oslo", "Bergen"]) {
      expect(text).toContain(`[calls {"city":"${city}"}]`);
      expect(text).toContain(`The weather in ${city} is cold.`);
    }
    expect(text.match(/\(3 items, 30 tokens\)/g)).toHaveLength(2);
  } finally {
    await endpoint.close();
  }
});
