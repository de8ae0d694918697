import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { captureRun } from "../../../tests/support/captured-run.ts";

const run = (...argv: string[]) =>
  captureRun(argv, { cwd: tmpdir(), env: { PATH: process.env["PATH"], HOME: tmpdir() } });

describe("gym env tools", () => {
  it("lists tools with their arguments, or the schemas as JSON", async () => {
    const text = await run("env", "tools", "example_multi_step");
    expect(text.exitCode, text.stderr).toBe(0);
    expect(text.stdout).toContain("get_synonym_value: Get the value of a synonym.\n  synonym (string)\n");
    const json = await run("env", "tools", "example_multi_step", "--json");
    expect(JSON.parse(json.stdout)[0]).toMatchObject({
      type: "function",
      name: "get_synonym_value",
      parameters: { type: "object", properties: { synonym: { type: "string" } }, required: ["synonym"] },
    });
  });

  it("shows the limits of arguments, without those of every integer", async () => {
    const examples = fileURLToPath(new URL("../../../examples", import.meta.url));
    const { stdout } = await run("env", "tools", "pantry", "--search-dir", examples);
    expect(stdout).toContain("  count (integer, exclusiveMinimum 0)\n");
  });

  it("reports that a server has no tools", async () => {
    const { exitCode, stdout, stderr } = await run("env", "tools", "mcqa");
    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(stderr).toContain("declares no tools");
    expect((await run("env", "tools", "mcqa", "--json")).stdout).toBe("[]\n");
  });

  it("suggests the nearest environment, and asks for one of several servers", async () => {
    const unknown = await run("env", "tools", "mcaq");
    expect([unknown.exitCode, unknown.stderr.includes("Did you mean `mcqa`?")]).toEqual([2, true]);
    const several = await run("env", "schema", "answer_mix");
    expect(several.stderr).toContain("choose one with --server: mcqa, string_match, numeric_answer.");
    const wrong = await run("env", "schema", "answer_mix", "--server", "mcqaa");
    expect(wrong.stderr).toContain("Did you mean `mcqa`?");
  });
});

describe("gym env schema", () => {
  it("prints the JSON Schema of a row, including the fields that only the session needs", async () => {
    for (const words of [["mcqa"], ["answer_mix", "--server", "mcqa"]]) {
      const { exitCode, stdout, stderr } = await run("env", "schema", ...words);
      expect(exitCode, stderr).toBe(0);
      const schema = JSON.parse(stdout);
      expect(schema.required).toEqual(["responses_create_params", "expected_answer"]);
      expect(schema.properties.expected_answer).toMatchObject({ type: "string" });
      expect(Object.keys(schema.properties)).toContain("options");
    }
  });

  it("supports games", async () => {
    const { stdout } = await run("env", "schema", "example_multi_turn_gymnasium");
    expect(JSON.parse(stdout).required).toEqual(["responses_create_params", "expected_answer"]);
  });
});
