import { describe, expect, it } from "vitest";
import { LazySignal } from "./lazy-signal.ts";
import { abortSignalOf } from "./stop-signal.ts";

describe("LazySignal", () => {
  it("tells all who listen, once, with the first reason", () => {
    const lazy = new LazySignal();
    const heard: string[] = [];
    const gone = () => heard.push("gone");
    lazy.addEventListener("abort", () => heard.push("a"));
    lazy.addEventListener("abort", gone);
    lazy.addEventListener("abort", () => heard.push("b"));
    lazy.removeEventListener("abort", gone);
    lazy.throwIfAborted();
    lazy.abort("first");
    lazy.abort("second");
    expect(heard).toEqual(["a", "b"]);
    expect([lazy.aborted, lazy.reason]).toEqual([true, "first"]);
    expect(() => lazy.throwIfAborted()).toThrow("first");
  });

  it("makes one AbortSignal, which tells the same, before and after", () => {
    const before = new LazySignal();
    const { signal } = before;
    expect(signal).toBeInstanceOf(AbortSignal);
    expect(abortSignalOf(before)).toBe(signal);
    before.abort(new Error("enough"));
    expect(signal.reason).toBe(before.reason);
    expect(signal.aborted).toBe(true);
    const after = new LazySignal();
    after.abort("over");
    expect(after.signal.reason).toBe("over");
    expect(abortSignalOf(signal)).toBe(signal);
  });
});
