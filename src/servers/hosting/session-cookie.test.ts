import { createHash, createHmac } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SessionCookie } from "./session-cookie.ts";

const name = "DemoServer___demo_resources";
const id = "11111111-2222-4333-8444-555555555555";
const value =
  "eyJzZXNzaW9uX2lkIjogIjExMTExMTExLTIyMjItNDMzMy04NDQ0LTU1NTU1NTU1NTU1NSJ9.ZVPxAA.nWZfSqdXOXyeNIzFzR1orY_xWfQ";

describe("SessionCookie", () => {
  it("creates the same signature as the Python original", () => {
    expect(new SessionCookie(name).sign(id, 1_700_000_000_000)).toBe(value);
  });

  it.each(["", "x", "Ålesund", "🚢", "s".repeat(200), "s".repeat(5_000)])(
    "signs by HMAC, whatever the id: %.20s",
    (id) => {
      const [payload, second, signature] = new SessionCookie(name).sign(id).split(".");
      const key = createHash("sha1").update(`itsdangerous.Signersigner${name}`).digest();
      expect(signature).toBe(createHmac("sha1", key).update(`${payload}.${second}`).digest("base64url"));
    },
  );

  it("reads cookies signed by itself and by others", () => {
    expect(new SessionCookie(name).read(value, 1_700_000_100_000)).toEqual({ id, isFresh: false });
  });

  it.each([
    ["forged", value.replace("nWZf", "nWZg")],
    ["another instance's", new SessionCookie("DemoServer___other").sign(id, 1_700_000_000_000)],
    ["truncated", value.slice(0, 40)],
    ["empty", ""],
  ])("ignores a cookie that is %s", (_, cookie) => {
    expect(new SessionCookie(name).read(cookie, 1_700_000_100_000)).toBeUndefined();
  });

  it("reports a cookie as fresh for a limited time", () => {
    const cookie = new SessionCookie(name);
    expect(cookie.read(value, 1_700_000_000_999)).toEqual({ id, isFresh: true });
    expect(cookie.read(value, 1_700_000_060_000)).toEqual({ id, isFresh: false });
  });

  it("reads its own cookies after signing many others", () => {
    const cookie = new SessionCookie(name);
    const values = Array.from({ length: 20_000 }, (_, index) => cookie.sign(`session ${index}`));
    for (const index of [0, 9_999, 15_000, 19_999])
      expect(cookie.read(values[index])).toEqual({ id: `session ${index}`, isFresh: true });
  });

  it("ignores changes of the system clock", () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const cookie = new SessionCookie(name);
    const signed = cookie.sign(id);
    vi.setSystemTime(Date.now() + 100 * 86_400_000);
    expect(cookie.read(signed)).toEqual({ id, isFresh: true });
    expect(new SessionCookie(name).read(signed)).toEqual({ id, isFresh: true });
  });

  it("ignores an expired cookie", () => {
    expect(new SessionCookie(name).read(value, (1_700_000_000 + 1_209_601) * 1000)).toBeUndefined();
  });
});
