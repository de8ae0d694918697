import { expect, it } from "vitest";
import { stripMcpPrefix } from "./mcp-tool-name.ts";

it.each([
  ["mcp__harbour__find__it", "harbour", "find__it"],
  ["mcp__other__find", "harbour", "mcp__other__find"],
  ["find", "harbour", "find"],
  ["mcp__harbour__find__it", undefined, "find__it"],
  ["mcp__harbour__find", null, "find"],
  ["mcp__harbour__", undefined, ""],
  ["mcp__harbour", undefined, "mcp__harbour"],
  ["find__it", undefined, "find__it"],
])("strips %s for the server %s", (name, server, bare) => {
  expect(stripMcpPrefix(name, server)).toBe(bare);
});
