import { expect, it } from "vitest";
import { checkPorts } from "./ports.ts";

const head = { host: "127.0.0.1", port: 11_000 };
const server = (name: string, port: number, host = "127.0.0.1") => ({ name, host, port });

it("accepts different addresses", () => {
  checkPorts([server("a", 12_000), server("b", 12_001), server("c", 12_000, "10.0.0.1")], head);
  checkPorts([server("a", 11_000)], undefined);
});

it.each([
  [
    "the head server's port",
    [server("a", 11_000)],
    "'head_server' and 'a' of this config both use port 11000",
  ],
  [
    "one port twice",
    [server("a", 9), server("b", 9, "localhost")],
    "'a' and 'b' of this config both use port 9",
  ],
  ["one of them everywhere", [server("a", 9), server("b", 9, "0.0.0.0")], "'a' and 'b'"],
  ["too large", [server("a", 99_999)], "The port of 'a' is 99999; it must be a number from 1 to 65535."],
  ["no number", [server("a", Number.NaN)], "The port of 'a' is NaN"],
])("rejects conflicting or invalid ports: %s", (_case, servers, message) => {
  expect(() => checkPorts(servers, head)).toThrow(message);
});
