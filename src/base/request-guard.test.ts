import os from "node:os";
import { describe, expect, it } from "vitest";
import { isLoopback, jsonRejectionOf, requestRejection } from "./request-guard.ts";

const allowHint = (name: string) => `Allow ${name}.`;
const local = { host: "127.0.0.1", allowHint };
const open = { host: "0.0.0.0", allowHint };

describe("rejectionOf", () => {
  it.each(["localhost:7860", "127.0.0.1", "127.0.0.1:9999", "[::1]:7860", "LocalHost", "gym.localhost:1"])(
    "lets %s through to a viewer on this machine",
    (host) => expect(requestRejection({ host }, local)).toBeUndefined(),
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
  ])("rejects %s, a name that only resolves to this machine", (host) =>
    expect(requestRejection({ host }, local)).toMatchObject({ status: 403 }),
  );

  it("allows only addresses and the machine's own name for a public viewer", () => {
    for (const host of ["10.0.0.5:7860", "[fe80::1]", `${os.hostname()}:7860`, "localhost"])
      expect(requestRejection({ host }, open)).toBeUndefined();
    expect(requestRejection({ host: "evil.example" }, open)?.reason).toContain("Allow evil.example.");
    expect(
      requestRejection({ host: "gym.example" }, { ...open, allowedHosts: ["Gym.example"] }),
    ).toBeUndefined();
    expect(requestRejection({ host: "nodename" }, { host: "nodename", allowHint })).toBeUndefined();
  });

  it("rejects requests of other sites", () => {
    expect(requestRejection({ host: "localhost:1", origin: "http://localhost:1" }, local)).toBeUndefined();
    expect(requestRejection({ host: "localhost:1", origin: "https://evil.example" }, local)).toMatchObject({
      status: 403,
    });
    expect(requestRejection({ host: "localhost:1", origin: "null" }, local)).toMatchObject({ status: 403 });
  });
});

describe("jsonRejectionOf", () => {
  const host = "127.0.0.1:11000";

  it("allows programs, with and without a content type", () => {
    for (const headers of [
      { host },
      { host, "content-type": "application/json" },
      { host, "content-type": "application/json; charset=utf-8", "user-agent": "Python/3.12 aiohttp/3.9" },
      { host, "content-type": "application/octet-stream" },
    ])
      expect(jsonRejectionOf(headers, local)).toBeUndefined();
  });

  it.each([
    "text/plain",
    "TEXT/PLAIN;charset=UTF-8",
    " application/x-www-form-urlencoded",
    "multipart/form-data; b",
  ])("rejects %s, which pages may send to any site", (type) =>
    expect(jsonRejectionOf({ host, "content-type": type }, local)).toMatchObject({ status: 415 }),
  );

  it("rejects other sites without Origin, but not navigation", () => {
    const site = { host, "sec-fetch-site": "cross-site" };
    expect(jsonRejectionOf({ ...site, "sec-fetch-mode": "no-cors" }, local)).toMatchObject({ status: 403 });
    expect(jsonRejectionOf({ ...site, "sec-fetch-mode": "navigate" }, local)).toBeUndefined();
    expect(jsonRejectionOf({ host, "sec-fetch-site": "same-origin" }, local)).toBeUndefined();
  });

  it("allows pages of allowed hosts", () => {
    const headers = { host, origin: "https://gym.example" };
    expect(jsonRejectionOf(headers, local)).toMatchObject({ status: 403 });
    expect(jsonRejectionOf(headers, { ...local, allowedHosts: ["gym.example"] })).toBeUndefined();
  });
});

describe("isLoopback", () => {
  it("recognizes loopback addresses", () => {
    expect(["127.0.0.1", "127.9.9.9", "::1", "localhost"].every(isLoopback)).toBe(true);
    expect(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example"].some(isLoopback)).toBe(false);
  });
});
