import { expect, it } from "vitest";
import { readMcpToken, signMcpToken } from "./mcp-token.ts";

const secret = "DemoServer___demo_resources";
const known = "eyJzaWQiOiJhYmMiLCJ0b29scyI6WyJhZGQiXX0.oKeiE0UFxaWQYYXKQqoLtYjz0lY";

it("creates the same signature as the Python original", () => {
  expect(signMcpToken(secret, { sid: "abc", tools: ["add"] })).toBe(known);
});

it("reads signed tokens, compressed or not", () => {
  const tools = Array.from({ length: 50 }, (_, i) => `tool_number_${i}`);
  const long = signMcpToken(secret, { sid: "s", tools });
  expect(long.startsWith(".")).toBe(true);
  expect(readMcpToken(secret, long)).toEqual({ sid: "s", tools });
  expect(readMcpToken(secret, known)).toEqual({ sid: "abc", tools: ["add"] });
  expect(readMcpToken(secret, signMcpToken(secret, { sid: "s", tools: null }))).toEqual({
    sid: "s",
    tools: null,
  });
});

it("rejects forged and malformed tokens", () => {
  for (const text of ["", ".", "abc", `${known}x`, known.replace("eyJ", "eyK"), "a".repeat(100_000)]) {
    expect(readMcpToken(secret, text)).toBeUndefined();
  }
  expect(readMcpToken("Other___x", known)).toBeUndefined();
});
