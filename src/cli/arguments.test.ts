import { describe, expect, it } from "vitest";
import { isOverrideWord, parseWords } from "./arguments.ts";
import type { FlagTable, PositionalTable } from "./command.ts";
import { UsageError } from "./errors.ts";

const flags = {
  config: { kind: "config", repeatable: true, help: "" },
  model: { kind: "text", short: "m", help: "" },
  "model-url": { kind: "text", help: "" },
  "model-api-key": { kind: "text", help: "" },
  limit: { kind: "value", help: "" },
  json: { kind: "switch", short: "j", help: "" },
  storage: { kind: "text", choices: ["hf", "gitlab"], help: "" },
  env: { kind: "selector", selector: "environment", help: "" },
  range: { kind: "value", metavar: ["LOW", "HIGH"], help: "" },
  up: { kind: "switch", exclusive: "direction", help: "" },
  down: { kind: "switch", exclusive: "direction", help: "" },
} as const satisfies FlagTable;

const parse = (...argv: string[]) => parseWords({ flags }, argv);
const problem = (...argv: string[]) => {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
  }
  return undefined;
};

describe("flags", () => {
  it("take their value after a space or an equals sign", () => {
    expect(parse("--limit", "5").flags.limit).toBe("5");
    expect(parse("--limit=5").flags.limit).toBe("5");
    expect(parse("--model-url=http://h/?a=b").flags["model-url"]).toBe("http://h/?a=b");
    expect(parse("--model=").flags.model).toBe("");
  });

  it("may be abbreviated if the prefix is unique", () => {
    expect(parse("--conf", "a.yaml").flags.config).toEqual(["a.yaml"]);
    expect(parse("--model", "x").flags.model).toBe("x");
    expect(problem("--model-", "x")).toBe(
      "ambiguous option: --model- could match --model-url, --model-api-key",
    );
  });

  it("have short forms that can be combined", () => {
    expect(parse("-m", "x").flags.model).toBe("x");
    expect(parse("-mx").flags.model).toBe("x");
    expect(parse("-m=x").flags.model).toBe("x");
    const joined = parse("-jvmx");
    expect(joined.flags).toMatchObject({ json: true, model: "x" });
    expect(joined.verbose).toBe(true);
  });

  it("collect repeated values if allowed; otherwise a second value is rejected", () => {
    expect(parse("--config", "a", "--config", "b").flags.config).toEqual(["a", "b"]);
    expect(problem("--limit", "1", "--limit", "2")).toBe(
      "argument --limit: given twice, as '1' and as '2'; it takes one value",
    );
    expect(problem("-m", "x", "--model=y")).toContain("--model/-m: given twice, as 'x' and as 'y'");
    expect(problem("--model-api-key", "sk-1", "--model-api-key", "sk-2")).toBe(
      "argument --model-api-key: given twice, as '****' and as '****'; it takes one value",
    );
    expect(problem("--range", "1", "2", "--range", "1", "3")).toContain("as '1 2' and as '1 3'");
    expect(problem("--env", "a", "--env", "b")).toContain(
      "name the config files of several with --config PATH",
    );
    expect(parse("--limit", "1", "--limit", "1", "-j", "-j").flags).toMatchObject({ limit: "1", json: true });
  });

  it("may take several values, negative numbers too", () => {
    expect(parse("--range", "-1", "-.5").flags.range).toEqual(["-1", "-.5"]);
    expect(problem("--range", "1")).toBe("argument --range: expected 2 arguments");
  });

  it("are never mistaken for a value", () => {
    expect(problem("--limit", "--json")).toBe("argument --limit: expected one argument");
    expect(problem("--limit")).toBe("argument --limit: expected one argument");
    expect(parse("--model", "-a b").flags.model).toBe("-a b");
  });

  it("are rejected with a hint when unknown", () => {
    expect(problem("--cofnig", "a.yaml")).toBe("unrecognized arguments: --cofnig. Did you mean `--config`?");
    expect(problem("--storge=hf")).toBe("unrecognized arguments: --storge=hf. Did you mean `--storage`?");
    expect(problem("--api-kye=sk-1", "--my-token=t")).toContain("--api-kye=sk-1 --my-token=****");
    const positionals = {
      NAME: { help: "a server", completes: ["resources_servers"] as const, optional: true },
    };
    expect(() => parseWords({ flags: {}, positionals }, ["--resources-server", "mcqa"])).toThrow(
      "unrecognized arguments: --resources-server. Give the name without `--resources-server`, as NAME.",
    );
    expect(problem("-z", "--zzzzzz")).toBe("unrecognized arguments: -z --zzzzzz.");
  });

  it("check their choices", () => {
    expect(problem("--storage", "gitlap")).toBe(
      "argument --storage: invalid choice: 'gitlap' (choose from 'hf', 'gitlab') Did you mean `gitlab`?",
    );
  });

  it("that are mutually exclusive cannot be combined", () => {
    expect(problem("--up", "--down")).toBe("argument --down: not allowed with argument --up");
    expect(problem("--json=1")).toBe("argument --json/-j: ignored explicit argument '1'");
  });

  it("stop at a double dash", () => {
    expect(parse("--", "--limit", "5").words).toEqual(["--limit", "5"]);
  });

  it("can be required", () => {
    const tables = { flags: { config: { kind: "config", short: "c", required: true, help: "" } } } as const;
    expect(() => parseWords(tables, [])).toThrow("the following arguments are required: --config/-c");
    expect(parseWords(tables, ["-h"]).help).toBe(true);
  });
});

describe("overrides", () => {
  it("mix with flags and keep their order", () => {
    const { words, flags: values } = parse("+a=1", "--limit", "5", "~b", "++c.d=[x,y]", "plain", "-1");
    expect(words).toEqual(["+a=1", "~b", "++c.d=[x,y]", "plain", "-1"]);
    expect(values.limit).toBe("5");
  });
});

describe("positionals", () => {
  const positionals = {
    TYPE: { optional: true, choices: ["agents", "models"], help: "" },
    QUERY: { help: "" },
  } as const satisfies PositionalTable;
  const search = (...argv: string[]) => parseWords({ flags, positionals }, argv);

  it("assign words to required positionals before optional ones", () => {
    expect(search("math").positionals).toEqual({ QUERY: "math" });
    expect(search("agents", "math").positionals).toEqual({ TYPE: "agents", QUERY: "math" });
  });

  it("do not consume overrides", () => {
    const parsed = search("+json=true", "math");
    expect(parsed.positionals).toEqual({ QUERY: "math" });
    expect(parsed.words).toEqual(["+json=true"]);
  });

  it("may be addresses with a query", () => {
    const address = "https://host/rollouts.jsonl?signature=abc&part=1";
    expect(search(address)).toMatchObject({ positionals: { QUERY: address }, words: [] });
  });

  it("pass surplus words on as overrides", () => {
    expect(search("agents", "math", "extra").words).toEqual(["extra"]);
  });

  it("are checked, and missing ones are reported", () => {
    expect(() => search()).toThrow("the following arguments are required: QUERY");
    expect(() => search("agnets", "x")).toThrow(
      "argument TYPE: invalid choice: 'agnets' (choose from 'agents', 'models') Did you mean `agents`?",
    );
  });
});

it("reads numbers within their range, and defaults of flags without a key", () => {
  const numbers = {
    share: { kind: "number", range: { minimum: 0, maximum: 1 }, default: "0.5", help: "" },
    count: { kind: "number", range: { minimum: 1, whole: true }, help: "" },
    keyed: { kind: "text", key: "keyed", default: "x", help: "" },
  } as const satisfies FlagTable;
  const read = (...argv: string[]) => parseWords({ flags: numbers }, argv).flags;
  expect(read()).toEqual({ share: 0.5, count: undefined, keyed: undefined });
  expect(read("--share", "1", "--count=3")).toMatchObject({ share: 1, count: 3 });
  expect(() => read("--share", "2")).toThrow("argument --share: must be a number from 0 to 1, not '2'");
  for (const wrong of ["0", "1.5", "many", " "])
    expect(() => read("--count", wrong)).toThrow("must be a whole number of at least 1, not");
});

it.each([
  ["+a=1", true],
  ["a.b=x y", true],
  ["~a", true],
  ["Solve 2+2=?", false],
  ["+ 1 = 2", false],
  ["hello", false],
])("treats %j as an override: %s (a sentence has spaces before its equals sign)", (word, expected) => {
  expect(isOverrideWord(word)).toBe(expected);
});
