import os from "node:os";
import { describe, expect, it } from "vitest";
import { isLoopback, jsonRefusalOf, refusalOf } from "./request-guard.ts";

const allowHint = (name: string) => `Allow ${name}.`;
const local = { host: "127.0.0.1", allowHint };
const open = { host: "0.0.0.0", allowHint };

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
  ])("refuses %s, a name that only resolves to this machine", (host) =>
    expect(refusalOf({ host }, local)).toMatchObject({ status: 403 }),
  );

  it("allows only addresses and the machine's own name for a public viewer", () => {
    for (const host of ["10.0.0.5:7860", "[fe80::1]", `${os.hostname()}:7860`, "localhost"])
      expect(refusalOf({ host }, open)).toBeUndefined();
    expect(refusalOf({ host: "evil.example" }, open)?.reason).toContain("Allow evil.example.");
    expect(refusalOf({ host: "gym.example" }, { ...open, allowedHosts: ["Gym.example"] })).toBeUndefined();
    expect(refusalOf({ host: "nodename" }, { host: "nodename", allowHint })).toBeUndefined();
  });

  it("refuses requests of other sites", () => {
    expect(refusalOf({ host: "localhost:1", origin: "http://localhost:1" }, local)).toBeUndefined();
    expect(refusalOf({ host: "localhost:1", origin: "https://evil.example" }, local)).toMatchObject({
      status: 403,
    });
    expect(refusalOf({ host: "localhost:1", origin: "null" }, local)).toMatchObject({ status: 403 });
  });
});

describe("jsonRefusalOf", () => {
  const host = "127.0.0.1:11000";

  it("allows programs, with and without a content type", () => {
    for (const headers of [
      { host },
      { host, "content-type": "application/json" },
      { host, "content-type": "application/json; charset=utf-8", "user-agent": "Python/3.12 aiohttp/3.9" },
      { host, "content-type": "application/octet-stream" },
    ])
      expect(jsonRefusalOf(headers, local)).toBeUndefined();
  });

  it.each([
    "text/plain",
    "TEXT/PLAIN;charset=UTF-8",
    " application/x-www-form-urlencoded",
    "multipart/form-data; b",
  ])("refuses %s, which pages may send to any site", (type) =>
    expect(jsonRefusalOf({ host, "content-type": type }, local)).toMatchObject({ status: 415 }),
  );

  it("refuses other sites without Origin, but not navigation", () => {
    const site = { host, "sec-fetch-site": "cross-site" };
    expect(jsonRefusalOf({ ...site, "sec-fetch-mode": "no-cors" }, local)).toMatchObject({ status: 403 });
    expect(jsonRefusalOf({ ...site, "sec-fetch-mode": "navigate" }, local)).toBeUndefined();
    expect(jsonRefusalOf({ host, "sec-fetch-site": "same-origin" }, local)).toBeUndefined();
  });

  it("allows pages of allowed hosts", () => {
    const headers = { host, origin: "https://gym.example" };
    expect(jsonRefusalOf(headers, local)).toMatchObject({ status: 403 });
    expect(jsonRefusalOf(headers, { ...local, allowedHosts: ["gym.example"] })).toBeUndefined();
  });
});

describe("isLoopback", () => {
  it("recognizes loopback addresses", () => {
    expect(["127.0.0.1", "127.9.9.9", "::1", "localhost"].every(isLoopback)).toBe(true);
    expect(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example"].some(isLoopback)).toBe(false);
  });
});
