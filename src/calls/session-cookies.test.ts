import { describe, expect, it } from "vitest";
import { cookieHeader, mergeCookies } from "./cookies.ts";
import { SessionCookies } from "./session-cookies.ts";

function signer(name: string) {
  const signed: string[] = [];
  return {
    name,
    signed,
    sign: (sessionId: string, given?: string) => {
      signed.push(sessionId);
      return given ?? `${name}:${sessionId}`;
    },
  };
}

describe("SessionCookies", () => {
  it("are signed once, when somebody reads them, in whatever way", () => {
    const harbour = signer("harbour");
    const cookies = SessionCookies.of(harbour, "s1", undefined);
    expect("harbour" in cookies && Object.keys(cookies)).toEqual(["harbour"]);
    expect(harbour.signed).toEqual([]);
    expect({ ...cookies }).toEqual({ harbour: "harbour:s1" });
    expect(JSON.parse(JSON.stringify(cookies))).toEqual({ harbour: "harbour:s1" });
    expect(cookieHeader(cookies)).toBe("harbour=harbour:s1");
    expect(harbour.signed).toEqual(["s1"]);
    expect(SessionCookies.of(harbour, "s2", "as it came")["harbour"]).toBe("as it came");
  });

  it("tell their sessions to whom they belong, and to nobody else", () => {
    const [one, other] = [signer("a"), signer("a")];
    const cookies = SessionCookies.of(one, "s1", undefined);
    expect(SessionCookies.sessionIn(cookies, one)).toBe("s1");
    expect(SessionCookies.sessionIn(cookies, other)).toBeUndefined();
    expect(SessionCookies.sessionIn({ a: "a:s1" }, one)).toBeUndefined();
    expect(SessionCookies.sessionIn({ ...cookies }, one)).toBeUndefined();
  });

  it("are merged without being signed, the newer ones winning", () => {
    const [a, b] = [signer("a"), signer("b")];
    const older = mergeCookies(SessionCookies.of(a, "a1", undefined), SessionCookies.of(b, "b1", undefined));
    const newer = SessionCookies.of(a, "a2", undefined);
    const merged = mergeCookies(older, newer);
    expect([a.signed, b.signed]).toEqual([[], []]);
    expect(SessionCookies.sessionIn(merged, a)).toBe("a2");
    expect({ ...merged }).toEqual({ b: "b:b1", a: "a:a2" });
    const [c, d] = [signer("c"), signer("d")].map((each) => SessionCookies.of(each, "1", undefined));
    const all = [c, d].reduce<typeof older>((before, next) => mergeCookies(before, next ?? {}), older);
    expect(Object.keys(all)).toEqual(["a", "b", "c", "d"]);
    expect(mergeCookies({}, newer)).toBe(newer);
    expect(mergeCookies(SessionCookies.of(a, "a1", undefined), newer)).toBe(newer);
    expect(mergeCookies({ c: "3" }, newer)).toEqual({ c: "3", a: "a:a2" });
    expect(mergeCookies(newer, { a: "plain" })).toEqual({ a: "plain" });
  });
});
