import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { installRoot } from "../config/paths.ts";
import { resolveConfig } from "../config/resolve.ts";
import { preprocessedDirectory, runInput } from "./evaluation-input.ts";

it("never writes generated inputs to the path of the output", () => {
  expect(preprocessedDirectory("res/run.v2.jsonl")).toBe("res/run.v2/preprocessed_datasets");
  expect(preprocessedDirectory("res/run")).toBe("res/run_preprocessed_datasets");
});

it("suggests --agent-type for the name of an agent implementation", async () => {
  const base = mkdtempSync(path.join(tmpdir(), "gym-input-"));
  try {
    const file = "resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml";
    const overrides = [`+config_paths=[${file},responses_api_models/random_model/configs/random_model.yaml]`];
    const config = await resolveConfig({ cwd: base, env: {}, overrides });
    const options = { output: path.join(base, "out.jsonl"), roots: [base, installRoot()] };
    await expect(runInput(config, { ...options, agent: "simple_agent" })).rejects.toThrow(
      "There is no agent 'simple_agent'. To run the environment with this agent, use --agent-type simple_agent.",
    );
    await expect(runInput(config, { ...options, agent: "nobody" })).rejects.toThrow(
      "There is no agent 'nobody'.\nAgents: example_single_tool_call_simple_agent.",
    );
  } finally {
    rmSync(base, { recursive: true });
  }
});
