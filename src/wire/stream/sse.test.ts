import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DONE, decodeSse, encodeSse, SseDecoder, SseError, type SseEvent } from "./sse.ts";

describe("encodeSse", () => {
  it("writes JSON in the format of Python, and the sentinel", () => {
    expect(encodeSse({ event: "a", data: { b: [1, "é"] } })).toBe(
      'event: a\ndata: {"b": [1, "\\u00e9"]}\n\n',
    );
    expect(encodeSse({ event: null, data: DONE })).toBe("data: [DONE]\n\n");
  });
});

describe("SseDecoder", () => {
  it("accepts all line ends, comments, several data lines and no space after the colon", () => {
    const text =
      ": hello\r\nevent:a\r\ndata: 1\r\ndata:2\r\n\r\nid: 9\nretry: 5\ndata: x\n\ndata\r\rdata: last";
    const decoder = new SseDecoder();
    expect([...decoder.push(text), ...decoder.end()]).toEqual([
      { event: "a", data: "1\n2" },
      { event: null, data: "x" },
      { event: null, data: "" },
      { event: null, data: "last" },
    ]);
  });

  it("does not depend on chunk boundaries", () => {
    const events: SseEvent[] = [
      { event: "a", data: { text: "zweiter Zug — 漢字 🚢\r\n" } },
      { event: null, data: DONE },
    ];
    const wire = events.map((event) => JSON.stringify(event.data));
    const bytes = new TextEncoder().encode(`event: a\r\ndata: ${wire[0]}\r\n\r\ndata: ${DONE}\r\n\r\n`);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const decoder = new SseDecoder();
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const found = edges.slice(1).flatMap((edge, index) => decoder.push(bytes.slice(edges[index], edge)));
        expect([...found, ...decoder.end()]).toEqual([
          { event: "a", data: wire[0] },
          { event: null, data: DONE },
        ]);
      }),
    );
  });

  it("rejects events that never end", () => {
    const decoder = new SseDecoder({ maxEventCharacters: 10 });
    expect(() => decoder.push(`data: ${"x".repeat(20)}`)).toThrow(SseError);
    const many = new SseDecoder({ maxEventCharacters: 10 });
    expect(() => many.push("data: 12345\n".repeat(3))).toThrow(SseError);
  });
});

it("decodes whole streams and keeps text that is not JSON", () => {
  expect(decodeSse('event: a\ndata: {"b": 1}\n\ndata: [DONE]\n\n')).toEqual([
    { event: "a", data: { b: 1 } },
    { event: null, data: "[DONE]" },
  ]);
});
