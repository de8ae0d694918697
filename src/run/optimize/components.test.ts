import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { TextOverrides } from "../inputs/text-overrides.ts";
import { Components } from "./components.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-components-"));
});
afterEach(() => rm(directory, { recursive: true }));

const tool = (name: string) => ({
  type: "function",
  name,
  description: `${name}s.`,
  parameters: { type: "object", properties: { city: { type: "string", description: "A city." } } },
});
const row = (system: string) => ({
  responses_create_params: {
    input: [
      { role: "system", content: system },
      { role: "user", content: "Hi" },
    ],
    tools: [tool("book"), tool("cancel")],
  },
});
const rows = [row("Be kind."), row("Be kind.")];
const config = { my_agent: { prompt: "Do it.", steps: 3 } };

it("finds the texts that names and patterns select", async () => {
  const names = ["system_prompt", "tools.*.description", "tools.book.parameters.*", "config.my_agent.prompt"];
  const { seed, changeConfig } = await Components.read(names, { rows, config });
  expect(seed).toEqual({
    system_prompt: "Be kind.",
    "tools.book.description": "books.",
    "tools.cancel.description": "cancels.",
    "tools.book.parameters.city": "A city.",
    "config.my_agent.prompt": "Do it.",
  });
  expect(changeConfig).toBe(true);
});

it("changes only what differs from the first texts", async () => {
  const components = await Components.read(["system_prompt", "tools.*.description"], { rows, config });
  const none = { textOverrides: undefined, promptConfig: undefined, skills: undefined, config: {} };
  expect(await components.layer(components.seed, directory)).toEqual(none);
  const texts = { ...components.seed, "tools.book.description": "Books a room." };
  expect(await components.layer(texts, directory)).toEqual({
    ...none,
    textOverrides: { tools: { book: { description: "Books a room." } } },
  });
});

it("copies a skills folder and keeps the front matter of its skills", async () => {
  const skills = path.join(directory, "skills");
  await mkdir(path.join(skills, "plan"), { recursive: true });
  await writeFile(path.join(skills, "plan", "SKILL.md"), "---\nname: plan\n---\nThink.\n");
  await writeFile(path.join(skills, "plan", "notes.txt"), "notes");
  const components = await Components.read([`skills=${skills}`], { rows, config });
  expect(components.seed).toEqual({ "skills.plan": "Think.\n" });
  const { skills: copy = "" } = await components.layer(
    { "skills.plan": "Think twice.\n" },
    path.join(directory, "c1"),
  );
  expect(await readFile(path.join(copy, "plan", "SKILL.md"), "utf8")).toBe(
    "---\nname: plan\n---\nThink twice.\n",
  );
  expect(await readFile(path.join(copy, "plan", "notes.txt"), "utf8")).toBe("notes");
});

it("writes a prompt template with the changed text", async () => {
  const promptConfig = path.join(directory, "prompt.yaml");
  await writeFile(promptConfig, "user: 'Q: {question}'\nsystem: Old.\n");
  const components = await Components.read(["prompt.system"], { rows: [], config, promptConfig });
  const { promptConfig: changed = "" } = await components.layer(
    { "prompt.system": "New." },
    path.join(directory, "c1"),
  );
  expect(JSON.parse(await readFile(changed, "utf8"))).toEqual({ user: "Q: {question}", system: "New." });
});

it("rejects a changed template that does not fit the rows", async () => {
  const promptConfig = path.join(directory, "prompt.yaml");
  await writeFile(promptConfig, "user: 'Q: {question}'\n");
  const given = { rows: [{ question: "Why?" }], config, promptConfig };
  const components = await Components.read(["prompt.user"], given);
  expect(components.problemOf(components.seed)).toBeUndefined();
  expect(components.problemOf({ "prompt.user": '{question} Reply as {{"entry": 1}}.' })).toBeUndefined();
  for (const text of ['{question} Reply as {"entry": 1}', "{question", "{answer}"])
    expect(components.problemOf({ "prompt.user": text })).toMatch(/^the template does not fit the rows: /);
});

it("starts with the texts of text_overrides, and keeps those that do not change", async () => {
  const textOverrides: TextOverrides = {
    system_prompt: "Be short.",
    system_prompt_role: "developer",
    tools: {
      book: { description: "Books.", parameters: { city: "Town." } },
      cancel: { description: "Stops." },
    },
  };
  const names = ["system_prompt", "tools.book.parameters.city", "tools.*.description"];
  const components = await Components.read(names, {
    rows: [row("A"), row("B")],
    config,
    textOverrides,
  });
  expect(components.seed).toEqual({
    system_prompt: "Be short.",
    "tools.book.parameters.city": "Town.",
    "tools.book.description": "Books.",
    "tools.cancel.description": "Stops.",
  });
  const layer = (texts: Record<string, string>) =>
    components.layer({ ...components.seed, ...texts }, directory);
  expect((await layer({})).textOverrides).toBeUndefined();
  expect((await layer({ system_prompt: "New." })).textOverrides).toEqual({
    ...textOverrides,
    system_prompt: "New.",
  });
  expect((await layer({ "tools.book.description": "New." })).textOverrides).toEqual({
    ...textOverrides,
    tools: { ...textOverrides.tools, book: { description: "New.", parameters: { city: "Town." } } },
  });
});

it.each([
  ["config.text_overrides.system_prompt", rows, "name the texts of text_overrides as system_prompt"],
  ["sistem_prompt", rows, "Did you mean 'system_prompt'?"],
  ["tools.bok.description", rows, "Did you mean 'tools.book.description'?"],
  ["system_prompt", [row("A"), row("B")], "differs between the rows"],
  ["config.my_agent.promt", rows, "my_agent has no key 'promt'. Did you mean 'prompt'?"],
  ["config.my_agent.steps", rows, "is not a text"],
  ["skills=/nowhere", rows, "cannot be read"],
])("rejects the component %s", async (name, given, message) => {
  await expect(Components.read([name], { rows: given, config })).rejects.toThrow(message);
});
