import { describe, expect, it } from "vitest";
import { turnFormats } from "./turn.ts";

const typed = (keystrokes: string, duration = 1) => ({ keystrokes, duration });

describe("json", () => {
  const { read } = turnFormats.json;
  it.each([
    ['{"commands": [{"keystrokes": "ls\\n"}]}', [typed("ls\n")], false],
    [
      '{"commands": [{"keystrokes": "a}\\"", "duration": 5}], "task_complete": true}',
      [typed('a}"', 5)],
      true,
    ],
    ['Sure:\n```json\n{"analysis": "{", "commands": []}\n```', [], false],
    [
      '{"commands": [{"keystrokes": "x", "duration": "2.5"}], "task_complete": "true"}',
      [typed("x", 2.5)],
      true,
    ],
    ['{"commands": [{"keystrokes": "x", "duration": "soon"}], "task_complete": "no"}', [typed("x")], false],
  ])("reads %s", (text, commands, isComplete) => {
    expect(read(text)).toEqual({ commands, isComplete });
  });
  it.each([
    ["I am done.", "no complete JSON object"],
    ['{"commands": [{"keystrokes": "ls"', "no complete JSON object"],
    ["{commands: []}", "invalid"],
    ['{"plan": "none"}', "commands"],
    ['{"commands": "ls"}', "commands"],
    ['{"commands": [{"keys": "ls"}]}', "commands.0.keystrokes"],
  ])("refuses %s", (text, reason) => {
    expect(read(text)).toContain(reason);
  });
});

describe("xml", () => {
  const { read } = turnFormats.xml;
  it.each([
    [
      '<commands><keystrokes duration="0.1">a && b\n</keystrokes></commands>',
      [typed("a && b\n", 0.1)],
      false,
    ],
    ["<commands/><task_complete>true</task_complete>", [], true],
    [
      "<commands>\n<keystrokes>a</keystrokes>\n<keystrokes>b</keystrokes></commands>",
      [typed("a"), typed("b")],
      false,
    ],
  ])("reads %s", (text, commands, isComplete) => {
    expect(read(text)).toEqual({ commands, isComplete });
  });
  it("refuses a turn without commands", () => {
    expect(read("<response><commands><keystrokes>ls</keystrokes>")).toContain("<commands>");
  });
});
