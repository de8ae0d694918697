import { describe, expect, it } from "vitest";
import { LruCache } from "./lru-cache.ts";

describe("LruCache", () => {
  it("removes the least recently used entry", () => {
    const cache = new LruCache<number>(2);
    cache.set("a", 1);
    cache.set("b", 2);
    cache.get("a");
    cache.set("c", 3);
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([1, undefined, 3]);
  });

  it("limits the total weight", () => {
    const cache = new LruCache<string>(100, 10);
    cache.set("a", "x", 6);
    cache.set("b", "y", 6);
    cache.set("huge", "z", 11);
    expect([cache.get("a"), cache.get("b"), cache.get("huge"), cache.size]).toEqual([
      undefined,
      "y",
      undefined,
      1,
    ]);
    cache.set("b", "w", 10);
    expect([cache.get("b"), cache.size]).toEqual(["w", 1]);
  });

  it("stores nothing with a size of zero", () => {
    const cache = new LruCache<number>(0);
    cache.set("a", 1);
    expect(cache.get("a")).toBeUndefined();
  });
});
