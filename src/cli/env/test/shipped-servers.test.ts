import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { checkDataFiles } from "./data-files.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../..");

function serversOf(type: string): string[] {
  return readdirSync(path.join(ROOT, type))
    .filter((name) => existsSync(path.join(ROOT, type, name, "configs")))
    .map((name) => `${type}/${name}`);
}

// `gym env test` fails for a server without tests or with incomplete data: the shipped ones must pass it.
describe("shipped servers", () => {
  it.each(["resources_servers", "responses_api_agents", "responses_api_models"].flatMap(serversOf))(
    "%s has tests and complete data",
    (entrypoint) => {
      const directory = path.join(ROOT, entrypoint);
      expect(testsBelow(directory)).not.toEqual([]);
      if (entrypoint.startsWith("resources_servers/"))
        expect(checkDataFiles(directory, entrypoint)).toEqual([]);
    },
  );
});

function testsBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".test.ts") && !file.includes("node_modules"),
  );
}
