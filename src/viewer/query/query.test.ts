import { describe, expect, it } from "vitest";
import { parseQuery, quoted } from "./query.ts";
import { patternFor } from "./text-search.ts";

describe("queries", () => {
  it("parses fields, states, texts and negated terms", () => {
    expect(parseQuery('reward<0.5 tool:python turns>=6 -is:masked "exact words" plain')).toEqual([
      { negated: false, kind: "number", field: "reward", operator: "<", value: 0.5 },
      { negated: false, kind: "name", field: "tool", value: "python" },
      { negated: false, kind: "number", field: "turns", operator: ">=", value: 6 },
      { negated: true, kind: "is", state: "masked" },
      { negated: false, kind: "text", text: "exact words" },
      { negated: false, kind: "text", text: "plain" },
    ]);
    expect(parseQuery('agent:"my agent" task:3')).toMatchObject([
      { field: "agent", value: "my agent" },
      { field: "task", operator: "=", value: 3 },
    ]);
  });

  it("parses terms without a known field as text", () => {
    for (const text of ["https://a.example/b?c=d", "x=1", '"a:b:c"', '"-"', "or", "12:30", '"a \\" b"'])
      expect(parseQuery(text)).toMatchObject([{ kind: "text" }]);
    for (const text of ['say "hi"', "reward<1", "a b", "-x", "é"])
      expect(parseQuery(quoted(text))).toEqual([{ negated: false, kind: "text", text }]);
  });

  it.each([
    ["rewrd<1", "Did you mean 'reward'?"],
    ["reward<high", "compared with a number"],
    ["is:paased", "Did you mean 'passed'?"],
    ["is:wonderful", "Known: completed"],
    ["tool>python", "write tool:python"],
    ["reward<", "Give a value after 'reward<'"],
    ["reward< 1", "Give a value after 'reward<'"],
    ["agent: x", "Give a value after 'agent:'"],
    ["is:", "Give a value after 'is:'"],
    ["foo:bar", "There is no field 'foo'. Known: reward"],
    ["foo:bar", 'write "foo:bar"'],
    ["modle:x", "Did you mean 'model'?"],
    ["- x", "A term must follow '-'"],
    ["a OR b", 'write "OR"'],
    ['"not closed', "The quote is not closed"],
    ['agent:"not closed', "The quote is not closed"],
    ['""', "between the quotes"],
    ['a -""', "between the quotes"],
    ['"ends with \\\\\\"', "The quote is not closed"],
  ])("rejects %s with a hint", (query, advice) => {
    expect(() => parseQuery(query)).toThrow(advice);
  });
});

describe("text search in JSON bytes", () => {
  const finds = (needle: string, value: unknown) => {
    const text = typeof value === "string" && value.startsWith("{") ? value : JSON.stringify(value);
    const pattern = patternFor(needle);
    pattern.lastIndex = 0;
    return pattern.test(Buffer.from(text).toString("latin1"));
  };

  it("finds a text in every JSON spelling", () => {
    expect(finds("nairobi", { a: "in NAIROBI" })).toBe(true);
    expect(finds("GRÜSSE ü", { a: "grüsse Ü" })).toBe(true);
    expect(finds("grüße", '{"a":"Gr\\u00FC\\u00dfe"}')).toBe(true);
    expect(finds("日本", { a: "das 日本" })).toBe(true);
    expect(finds('say "hi"\n', { a: 'SAY "HI"\nthen' })).toBe(true);
    expect(finds("a.b*c", { a: "a.b*c" })).toBe(true);
    expect(finds("a.b*c", { a: "aXbbc" })).toBe(false);
    expect(finds("https://x/y", '{"a":"https:\\/\\/x\\/y"}')).toBe(true);
    expect(finds("C:\\temp", { a: "c:\\TEMP" })).toBe(true);
  });
});
