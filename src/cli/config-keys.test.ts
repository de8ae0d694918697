import { describe, expect, expectTypeOf, it } from "vitest";
import { type KeyTable, readKeys } from "./config-keys.ts";

const keys = {
  input: { type: "str", required: true, help: "" },
  limit: { type: "int", minimum: 1, help: "" },
  repeats: { type: "int", default: 1, help: "" },
  rate: { type: "float", help: "" },
  force: { type: "bool", default: false, help: "" },
  mode: { type: "str", choices: ["train", "example"], help: "" },
  params: { type: "dict", help: "" },
  names: { type: "list", help: "" },
} as const satisfies KeyTable;

const from = (values: Record<string, unknown>) => ({ get: (path: string) => values[path] });
const read = (values: Record<string, unknown>) => readKeys(keys, from(values));

describe("readKeys", () => {
  it("returns typed values and defaults", () => {
    const values = read({
      input: "a",
      limit: 5,
      force: "yes",
      mode: "train",
      rate: "0.5",
      params: {},
      names: [],
    });
    expect(values).toEqual({
      input: "a",
      limit: 5,
      repeats: 1,
      rate: 0.5,
      force: true,
      mode: "train",
      params: {},
      names: [],
    });
    expectTypeOf(values.input).toEqualTypeOf<string>();
    expectTypeOf(values.limit).toEqualTypeOf<number | undefined>();
    expectTypeOf(values.repeats).toEqualTypeOf<number>();
    expectTypeOf(values.mode).toEqualTypeOf<"train" | "example" | undefined>();
  });

  it("treats null as absent", () => {
    expect(read({ input: "a", limit: null, repeats: null })).toMatchObject({ limit: undefined, repeats: 1 });
    expect(() => read({ input: null })).toThrow("missing required configuration: input.");
  });

  it("keeps the null of a key that null removes the limit of", () => {
    const table = {
      timeout: { type: "float", positive: true, nullable: true, default: 7200, help: "" },
    } as const satisfies KeyTable;
    const values = readKeys(table, from({ timeout: null }));
    expect(values).toEqual({ timeout: null });
    expectTypeOf(values.timeout).toEqualTypeOf<number | null>();
    expect(readKeys(table, from({}))).toEqual({ timeout: 7200 });
    expect(() => readKeys(table, from({ timeout: 0 }))).toThrow("timeout (must be more than 0).");
  });

  it("reports all missing and invalid keys in one message", () => {
    expect(() =>
      read({ limit: "x", rate: "", force: "maybe", mode: "tain", params: [], names: {}, repeats: 1.5 }),
    ).toThrow(
      "missing required configuration: input. Provide each via its flag (see --help) or as a +input=<value> override. " +
        "invalid configuration: limit (must be an integer); repeats (must be an integer); rate (must be a number); " +
        "force (must be true or false); mode (must be one of 'train', 'example'); params (must be a mapping); " +
        "names (must be a list).",
    );
    expect(() => read({ input: "a", limit: 0 })).toThrow(
      "invalid configuration: limit (must be at least 1).",
    );
    expect(() => read({ input: 5 })).toThrow("invalid configuration: input (must be text).");
  });
});
