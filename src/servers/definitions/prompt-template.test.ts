import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compilePrompt, loadPromptText, loadPromptYaml } from "./prompt-template.ts";

describe("compilePrompt", () => {
  it("fills fields verbatim and unescapes doubled braces", () => {
    const template = compilePrompt("Q={question} {{json}} {question}{end}");
    expect(template.fields).toEqual(["question", "end"]);
    expect(template.render({ question: "{a}$&", end: "." })).toBe("Q={a}$& {json} {a}$&.");
  });

  it("names the available fields of a template", () => {
    expect(() => compilePrompt("{answer}", { fields: ["question"] })).toThrow(
      "{answer}; available: question",
    );
    expect(() => compilePrompt("{toString}").render({})).toThrow("toString");
  });

  it("rejects unmatched braces and names the source", () => {
    for (const text of ["{", "}", "a {b", "{{}"]) {
      expect(() => compilePrompt(text, { source: "judge.txt" })).toThrow(/^judge\.txt: /);
    }
  });
});

describe("prompt files", () => {
  let directory = "";
  const server = () => ({ directory, findFile: (path: string) => join(directory, "elsewhere", path) });
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "prompts-"));
    await writeFile(join(directory, "a.txt"), "\n Q: {q} \n");
    await writeFile(join(directory, "b.yaml"), "user: |-\n  Q: {q}\nsystem: S\n");
    await writeFile(join(directory, "c.yaml"), "system: S\n");
  });
  afterAll(() => rm(directory, { recursive: true }));

  it("reads text and YAML files next to the server", async () => {
    expect((await loadPromptText(server(), "a.txt")).render({ q: "1" })).toBe("Q: 1");
    const prompt = await loadPromptYaml(server(), "b.yaml", ["q"]);
    expect([prompt.user.render({ q: "1" }), prompt.system?.render({})]).toEqual(["Q: 1", "S"]);
  });

  it("names a missing or invalid file", async () => {
    await expect(loadPromptText(server(), "none.txt")).rejects.toThrow("none.txt");
    await expect(loadPromptYaml(server(), "c.yaml")).rejects.toThrow("'c.yaml' is not valid");
  });
});
