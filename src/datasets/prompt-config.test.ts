import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dumps } from "../python/json-dumps.ts";
import { loads } from "../python/json-loads.ts";
import { hasInput, loadPromptConfig, renderPrompt } from "./prompt-config.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-prompt-"));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

async function prompt(text: string) {
  const file = path.join(directory, "p.yaml");
  await writeFile(file, text);
  return loadPromptConfig(file);
}

const row = (text: string) => loads(text) as Record<string, unknown>;

describe("renderPrompt", () => {
  it("fills the templates and keeps everything else, numbers and order included", async () => {
    const config = await prompt("system: 'You {{ok}}'\nuser: |\n  Q: {question} {score} {tags}\n");
    const given = row('{"2": 1.0, "question": "{curly}", "score": 1.0, "tags": ["a", null], "1": 2}');
    expect(dumps(renderPrompt(config, given))).toBe(
      '{"2": 1.0, "question": "{curly}", "score": 1.0, "tags": ["a", null], "1": 2, "responses_create_params": ' +
        `{"input": [{"role": "system", "content": "You {ok}"}, {"role": "user", "content": "Q: {curly} 1.0 ['a', None]\\n"}]}}`,
    );
    expect(given["responses_create_params"]).toBeUndefined();
  });

  it("keeps other parameters", async () => {
    const config = await prompt("user: '{q}'");
    const rendered = renderPrompt(
      config,
      row('{"responses_create_params": {"temperature": 0.5, "input": []}, "q": 1}'),
    );
    expect(dumps(rendered)).toBe(
      '{"responses_create_params": {"temperature": 0.5, "input": [{"role": "user", "content": "1"}]}, "q": 1}',
    );
  });

  it("names the field a row lacks and those it has", async () => {
    const config = await prompt("user: '{question}'");
    expect(() => renderPrompt(config, row('{"other": 1}'))).toThrow(
      "The template needs the field 'question'; the row has: other.",
    );
  });
});

describe("loadPromptConfig", () => {
  it.each([
    ["system: x\n", "needs a text under 'user'"],
    ["user: [a]\n", "needs a text under 'user'"],
    ["- user\n", "needs a text under 'user'"],
    ["user: '{'\n", "bad template under 'user'"],
    ["user: '{0}'\n", "bad template under 'user'"],
    ["user: 'a\n", "is not valid YAML"],
  ])("refuses %j", async (text, message) => {
    await expect(prompt(text)).rejects.toThrow(message);
  });

  it("names a file that is not there", async () => {
    await expect(loadPromptConfig(path.join(directory, "none.yaml"))).rejects.toThrow(
      "none.yaml' cannot be read",
    );
  });
});

describe("hasInput", () => {
  it.each([
    ['{"responses_create_params": {"input": "x"}}', true],
    ['{"responses_create_params": {"input": [{}]}}', true],
    ['{"responses_create_params": {"input": ""}}', false],
    ['{"responses_create_params": {"input": []}}', false],
    ['{"responses_create_params": {"input": {}}}', false],
    ['{"responses_create_params": {"input": 0.0}}', false],
    ['{"responses_create_params": {"input": null}}', false],
    ['{"responses_create_params": []}', false],
    ["{}", false],
  ])("%s: %s", (text, expected) => {
    expect(hasInput(row(text))).toBe(expected);
  });
});
