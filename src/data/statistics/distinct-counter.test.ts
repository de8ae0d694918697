import { describe, expect, it } from "vitest";
import { DistinctCounter } from "./distinct-counter.ts";

describe("DistinctCounter", () => {
  it("counts each string once", () => {
    const counter = new DistinctCounter();
    for (const text of ["law", "art", "law", "", "", "à", "a\u0300"]) counter.add(text);
    expect(counter.size).toBe(5);
  });

  it("agrees with a set over many similar strings", () => {
    const counter = new DistinctCounter();
    const expected = new Set<string>();
    for (let index = 0; index < 200_000; index++) {
      const text = `row ${index % 150_000} of ${index % 7}`;
      counter.add(text);
      expected.add(text);
    }
    expect(counter.size).toBe(expected.size);
  });

  it("distinguishes permutations and repetitions", () => {
    const counter = new DistinctCounter();
    const letters = "abcdefgh";
    let total = 0;
    for (const a of letters)
      for (const b of letters)
        for (const c of letters)
          for (const d of letters) {
            counter.add(a + b + c + d);
            total++;
          }
    for (let length = 0; length < 500; length++, total++) counter.add("x".repeat(length + 5));
    expect(counter.size).toBe(total);
  });
});
