import { describe, expect, it } from "vitest";
import { aliasedInstance, aliasedPath, currentComponentName, olderInstanceNames } from "./aliases.ts";

describe("aliases of renamed components", () => {
  it.each([
    ["simple_weather", "example_single_tool_call"],
    ["example_simple_weather", "example_single_tool_call"],
    ["multineedle", "example_multi_step"],
    ["stateful_counter", "example_session_state_mgmt"],
    ["comp_coding", "code_gen"],
    ["library_judge_math", "math_with_judge"],
    ["multiverse_math_hard", "math_advanced_calculations"],
    ["workbench", "workplace_assistant"],
    ["mcqa", "mcqa"],
    ["constructor", "constructor"],
  ])("%s is %s", (old, current) => {
    expect(currentComponentName(old)).toBe(current);
  });

  it("changes only whole names in component directories", () => {
    expect(aliasedPath("resources_servers/example_simple_weather/configs/simple_weather.yaml")).toBe(
      "resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml",
    );
    expect(aliasedPath("./resources_servers/multineedle/data/example.jsonl")).toBe(
      "./resources_servers/example_multi_step/data/example.jsonl",
    );
    expect(aliasedPath("resources_servers/workbench2/configs/a.yaml")).toBeUndefined();
    expect(aliasedPath("data/workbench/rows.jsonl")).toBeUndefined();
  });

  it("finds the configured instance of an old name", () => {
    const configured = new Set(["example_multi_step", "example_multi_step_simple_agent", "policy_model"]);
    expect(aliasedInstance("multineedle_simple_agent", configured)).toBe("example_multi_step_simple_agent");
    expect(aliasedInstance("multineedle_resources_server", configured)).toBe("example_multi_step");
    expect(aliasedInstance("multineedle", configured)).toBe("example_multi_step");
    const suffixed = new Set(["example_multi_step_resources_server"]);
    expect(aliasedInstance("example_multi_step", suffixed)).toBe("example_multi_step_resources_server");
    expect(aliasedInstance("multineedle", suffixed)).toBe("example_multi_step_resources_server");
    expect(aliasedInstance("openai_model", configured)).toBe("policy_model");
    expect(aliasedInstance("policy_model", new Set(["openai_model"]))).toBe("openai_model");
    expect(aliasedInstance("multineedles", configured)).toBeUndefined();
    expect(aliasedInstance("workbench", configured)).toBeUndefined();
  });

  it("lists the old names of an instance", () => {
    expect(olderInstanceNames("example_multi_step_simple_agent")).toEqual(["multineedle_simple_agent"]);
    expect(olderInstanceNames("mcqa_simple_agent")).toEqual([]);
  });
});
