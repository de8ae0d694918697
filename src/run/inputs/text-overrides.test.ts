import { describe, expect, it } from "vitest";
import { overrideTexts, readTextOverrides, systemPromptOf, toolTextsOf } from "./text-overrides.ts";

const user = { role: "user", content: "Hello" };

describe("the system prompt", () => {
  it.each([
    ["instructions", { instructions: "Old.", input: [user] }, { instructions: "New.", input: [user] }],
    [
      "the first message",
      { input: [{ role: "developer", content: [{ type: "input_text", text: "Old." }] }, user] },
      { input: [{ role: "developer", content: "New." }, user] },
    ],
    ["a new message", { input: [user] }, { input: [{ role: "system", content: "New." }, user] }],
    [
      "a new message before a text",
      { input: "Hello" },
      { input: [{ role: "system", content: "New." }, user] },
    ],
  ])("is replaced in %s", (_, params, expected) => {
    expect(overrideTexts(params, { system_prompt: "New." })).toEqual(expected);
  });

  it("goes before the first user message for agents without one", () => {
    const overrides = { system_prompt: "New.", system_prompt_role: "user" } as const;
    expect(overrideTexts({ input: [user] }, overrides)).toEqual({
      input: [{ role: "user", content: "New.\n\nHello" }],
    });
    const image = { type: "input_image", image_url: "data:," };
    expect(overrideTexts({ input: [{ role: "user", content: [image] }] }, overrides)).toEqual({
      input: [{ role: "user", content: [{ type: "input_text", text: "New." }, image] }],
    });
  });

  it("is read where it is replaced", () => {
    expect(systemPromptOf({ instructions: "A", input: [] })).toBe("A");
    expect(systemPromptOf({ input: [{ role: "system", content: "B" }] })).toBe("B");
    expect(systemPromptOf({ input: [user] })).toBe("");
  });
});

describe("texts of tools", () => {
  const tool = {
    type: "function",
    name: "find",
    description: "Finds.",
    parameters: {
      type: "object",
      properties: {
        "a.b": { type: "string", description: "dotted" },
        filter: { type: "object", properties: { from: { type: "string", description: "start" } } },
        tags: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
      },
    },
  };

  it("are listed by path", () => {
    expect([...(toolTextsOf(tool)?.texts ?? [])]).toEqual([
      ["description", "Finds."],
      ["parameters.a.b", "dotted"],
      ["parameters.filter", ""],
      ["parameters.filter.from", "start"],
      ["parameters.tags", ""],
      ["parameters.tags.name", ""],
    ]);
  });

  it("are replaced at every path that is listed, and other tools stay", () => {
    const paths = [...(toolTextsOf(tool)?.texts.keys() ?? [])]
      .slice(1)
      .map((path) => path.slice("parameters.".length));
    const parameters = Object.fromEntries(paths.map((path) => [path, `new ${path}`]));
    const other = { type: "function", name: "other", description: "Other." };
    const { tools } = overrideTexts(
      { tools: [tool, other] },
      { tools: { find: { description: "New.", parameters } } },
    );
    const [changed, same] = tools as unknown[];
    expect(toolTextsOf(changed)?.texts).toEqual(
      new Map([
        ["description", "New."],
        ...paths.map((path): [string, string] => [`parameters.${path}`, `new ${path}`]),
      ]),
    );
    expect(same).toBe(other);
  });
});

it.each([
  [{ system_promt: "x" }, "has no key 'system_promt'"],
  [{ system_prompt: 5 }, "text_overrides.system_prompt must be a text"],
  [{ system_prompt_role: "robot" }, "must be one of system, developer, user"],
  [{ tools: { find: { name: "x" } } }, "has no key 'name'"],
  [
    { tools: { find: { parameters: { city: 1 } } } },
    "text_overrides.tools.find.parameters.city must be a text",
  ],
  ["text", "text_overrides must be a mapping"],
])("rejects %j", (given, message) => {
  expect(() => readTextOverrides(given)).toThrow(message);
});
