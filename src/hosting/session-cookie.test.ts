import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { newSessionId, SessionCookie } from "./session-cookie.ts";

const name = "DemoServer___demo_resources";
const id = "11111111-2222-4333-8444-555555555555";
const value =
  "eyJzZXNzaW9uX2lkIjogIjExMTExMTExLTIyMjItNDMzMy04NDQ0LTU1NTU1NTU1NTU1NSJ9.ZVPxAA.nWZfSqdXOXyeNIzFzR1orY_xWfQ";

describe("SessionCookie", () => {
  it("signs like the original", () => {
    expect(new SessionCookie(name).sign(id, undefined, 1_700_000_000_000)).toBe(value);
  });

  it.each(["", "x", "Ålesund", "🚢", "s".repeat(200), "s".repeat(5_000)])(
    "signs by HMAC, whatever the id: %.20s",
    (id) => {
      const [payload, second, signature] = new SessionCookie(name).sign(id).split(".");
      const key = createHash("sha1").update(`itsdangerous.Signersigner${name}`).digest();
      expect(signature).toBe(createHmac("sha1", key).update(`${payload}.${second}`).digest("base64url"));
    },
  );

  it("reads what it and others signed", () => {
    expect(new SessionCookie(name).read(value, 1_700_000_100_000)).toBe(id);
  });

  it.each([
    ["forged", value.replace("nWZf", "nWZg")],
    ["another instance's", new SessionCookie("DemoServer___other").sign(id, undefined, 1_700_000_000_000)],
    ["truncated", value.slice(0, 40)],
    ["empty", ""],
  ])("ignores a cookie that is %s", (_, cookie) => {
    expect(new SessionCookie(name).read(cookie, 1_700_000_100_000)).toBeUndefined();
  });

  it("gives a fresh cookie back unchanged, and signs an older one anew", () => {
    const cookie = new SessionCookie(name);
    cookie.read(value, 1_700_000_000_000);
    expect(cookie.sign(id, value, 1_700_000_000_999)).toBe(value);
    expect(cookie.sign(id, value, 1_700_003_600_000)).not.toBe(value);
    expect(cookie.sign("another", value, 1_700_000_000_000)).not.toBe(value);
  });

  it("ignores an expired cookie, also when it is remembered", () => {
    const cookie = new SessionCookie(name);
    expect(cookie.read(value, 1_700_000_000_000)).toBe(id);
    expect(cookie.read(value, (1_700_000_000 + 1_209_601) * 1000)).toBeUndefined();
  });
});

it("makes ids that are random UUIDs, each another", () => {
  const ids = Array.from({ length: 2_000 }, newSessionId);
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(ids.filter((id) => !form.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});
