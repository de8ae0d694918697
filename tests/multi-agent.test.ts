import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { MockModelEndpoint } from "../src/testing/mock-model-endpoint.ts";
import { project, repository, runGym } from "./gym-process.ts";

it("a planner delegates to a worker agent, and the usage of both is counted", async () => {
  const data = await readFile(
    path.join(repository, "resources_servers/workplace_assistant/data/example.jsonl"),
    "utf8",
  );
  const row = data.split("\n")[2] ?? "";
  const calls = (JSON.parse(row) as { ground_truth: { name: string; arguments: string }[] }).ground_truth;
  const endpoint = await new MockModelEndpoint({
    answer: ({ body }) => {
      const names = (body["tools"] as { name: string }[]).map(({ name }) => name);
      const conversation = JSON.stringify(body["input"]);
      const outputs = conversation.split('"function_call_output"').length - 1;
      if (names.includes("delegate")) {
        if (conversation.includes("step 2 is done")) return { text: "Everything is done." };
        const step = conversation.includes("step 1 is done") ? "step 2" : "step 1";
        return { toolCalls: [{ name: "delegate", arguments: { step } }] };
      }
      const step = conversation.includes("step 2") ? 2 : 1;
      const call = calls[step - 1];
      return outputs === 0 && call ? { toolCalls: [call] } : { text: `step ${step} is done` };
    },
  }).start();
  try {
    const cwd = await project({ "rows.jsonl": `${row}\n` });
    const finished = await runGym(
      [
        ...["eval", "run", "--search-dir", path.join(repository, "examples")],
        ...[
          "--config",
          path.join(repository, "examples/responses_api_agents/planner/configs/office_team.yaml"),
        ],
        ...["--model-type", "openai_model", "--model-url", endpoint.baseUrl, "--model-api-key", "k"],
        ...["--model", "m", "--agent", "office_planner_agent", "-i", "rows.jsonl", "-o", "out.jsonl"],
      ],
      { cwd },
    );
    expect(finished.stderr + finished.stdout).toContain("1 of 1 rollouts scored");
    const result = JSON.parse(await readFile(path.join(cwd, "out.jsonl"), "utf8"));
    expect(result.reward).toBe(1);
    const { output, usage } = result.response as {
      output: { type: string; name?: string }[];
      usage: { input_tokens: number };
    };
    expect(output.flatMap(({ name }) => name ?? [])).toEqual([
      "delegate",
      calls[0]?.name,
      "delegate",
      calls[1]?.name,
    ]);
    expect(output.at(-1)?.type).toBe("message");
    // Three calls of the planner and two times two of the worker.
    expect(usage.input_tokens).toBe(70);
  } finally {
    await endpoint.close();
  }
});
