import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../base/python/json/json-object.ts";
import { installRoot } from "../../../config/paths.ts";
import type {
  GymnasiumServerDefinition,
  ResourcesServerDefinition,
} from "../../definitions/define-resources.ts";
import { callableTools, checkRow } from "./check-rows.ts";

const folder = path.join(installRoot(), "resources_servers");
const servers = readdirSync(folder).filter((name) => existsSync(path.join(folder, name, "app.ts")));

/** Servers whose rows hold no ground truth. */
const WITHOUT_GROUND_TRUTH = new Map([
  ["aegis_v4_safety", "a classifier scores any answer"],
  ["blackjack", "the game is dealt at random"],
  ["example_mcp_weather", "rows that name no city ask for Paris"],
  ["example_single_tool_call", "every call of the tool earns 1"],
  ["genrm_compare", "responses are compared with each other"],
  ["jailbreak_detection", "the judge sees only the attempt and the reply"],
  ["ns_tools", "the verifier that it calls checks the row"],
  ["openenv", "the environment behind the server scores"],
  ["over_refusal_detection", "the judge sees only the request and the reply"],
  ["speed_bench", "the speed of the model is measured, not its answer"],
  ["tales", "the game scores, and has a default"],
  ["verifif", "instructions and questions to the judge are both optional, as in the original"],
]);

function examplesOf(name: string): JsonObject[] {
  const file = path.join(folder, name, "data/example.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as JsonObject);
}

/** Checks a row as `POST /check_rows` does. */
function check(definition: ResourcesServerDefinition | GymnasiumServerDefinition, row: JsonObject): void {
  const options = definition.options as ResourcesServerDefinition["options"];
  checkRow(options, callableTools(options, {}), row);
}

describe.each(servers)("%s", async (name) => {
  const { default: definition } = (await import(pathToFileURL(path.join(folder, name, "app.ts")).href)) as {
    default: ResourcesServerDefinition | GymnasiumServerDefinition;
  };
  const examples = examplesOf(name);

  it("accepts its examples", () => {
    for (const row of examples) expect(() => check(definition, row)).not.toThrow();
  });

  it.skipIf(WITHOUT_GROUND_TRUTH.has(name))("rejects a row without ground truth", () => {
    const params = examples[0]?.["responses_create_params"] ?? { input: "?" };
    expect(() => check(definition, { responses_create_params: params })).toThrow(/Field required|required/);
  });
});
