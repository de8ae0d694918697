import os from "node:os";
import { describe, expect, it } from "vitest";
import { isLoopback, refusalOf } from "./request-guard.ts";

const local = { host: "127.0.0.1" };
const open = { host: "0.0.0.0" };

describe("refusalOf", () => {
  it.each(["localhost:7860", "127.0.0.1", "127.0.0.1:9999", "[::1]:7860", "LocalHost", "gym.localhost:1"])(
    "lets %s through to a viewer on this machine",
    (host) => expect(refusalOf({ host }, local)).toBeUndefined(),
  );

  it.each([
    "evil.example",
    "evil.example:7860",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "10.0.0.5",
    "",
    "a b",
    "x@localhost",
  ])("refuses %s, whose name only points here", (host) =>
    expect(refusalOf({ host }, local)).toBeTypeOf("string"),
  );

  it("lets addresses and the machine's own name through to a viewer for everyone, no other names", () => {
    for (const host of ["10.0.0.5:7860", "[fe80::1]", `${os.hostname()}:7860`, "localhost"])
      expect(refusalOf({ host }, open)).toBeUndefined();
    expect(refusalOf({ host: "evil.example" }, open)).toContain("--allow-host evil.example");
    expect(refusalOf({ host: "gym.example" }, { ...open, allowedHosts: ["Gym.example"] })).toBeUndefined();
    expect(refusalOf({ host: "nodename" }, { host: "nodename" })).toBeUndefined();
  });

  it("refuses what another site sends", () => {
    expect(refusalOf({ host: "localhost:1", origin: "http://localhost:1" }, local)).toBeUndefined();
    expect(refusalOf({ host: "localhost:1", origin: "https://evil.example" }, local)).toBeTypeOf("string");
    expect(refusalOf({ host: "localhost:1", origin: "null" }, local)).toBeTypeOf("string");
  });
});

describe("isLoopback", () => {
  it("knows what only this machine reaches", () => {
    expect(["127.0.0.1", "127.9.9.9", "::1", "localhost"].every(isLoopback)).toBe(true);
    expect(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example"].some(isLoopback)).toBe(false);
  });
});
