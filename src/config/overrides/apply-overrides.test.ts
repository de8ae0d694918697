import { describe, expect, it } from "vitest";
import { OverrideError } from "../errors.ts";
import { plainFromNode } from "../plain-data.ts";
import { applyOverrides, type Override } from "./apply-overrides.ts";

const apply = (...overrides: Override[]) => plainFromNode(applyOverrides(overrides, {}));
const failure = (...overrides: Override[]) => {
  try {
    apply(...overrides);
  } catch (error) {
    if (error instanceof OverrideError) return error.message;
    throw error;
  }
  throw new Error("was accepted");
};

describe("applyOverrides", () => {
  it("nests dotted keys, merges mappings with ++ and replaces lists", () => {
    expect(apply("+a.b.c=1", "++a.b.d=2", "+m={x:1}", "++m={y:2}", "+l=[1,2]", "++l=[3]")).toEqual({
      a: { b: { c: 1, d: 2 } },
      m: { x: 1, y: 2 },
      l: [3],
    });
  });

  it("changes and deletes values of earlier overrides", () => {
    expect(apply("+a=1", "a=2")).toEqual({ a: 2 });
    expect(apply("+a.b=1", "+a.c=2", "~a.b")).toEqual({ a: { c: 2 } });
    expect(apply("+a=[10,20]", "++a.1=99")).toEqual({ a: [10, 99] });
    expect(apply("+a=5", "~a=5")).toEqual({});
  });

  it("adds over a null, and replaces a value by a mapping", () => {
    expect(apply("+a=null", "+a=1")).toEqual({ a: 1 });
    expect(apply("+a=1", "+a.b=2")).toEqual({ a: { b: 2 } });
  });

  it("ignores keys of Hydra itself", () => {
    expect(apply("hydra.run.dir=x", "+hydra.verbose=true", "hydra/launcher=x", "+hydrant=1")).toEqual({
      hydrant: 1,
    });
  });

  it("keeps 'a/b' as one key", () => {
    expect(apply("+a/b=1")).toEqual({ "a/b": 1 });
  });

  it("explains why an override cannot be applied", () => {
    expect(failure("gate=shut")).toMatch(/Could not override 'gate'.*\+gate=shut/s);
    expect(failure("+m={x:1}", "m={y:2}")).toContain("Could not override 'm'");
    expect(failure("~gate")).toContain("Could not delete from config. 'gate' does not exist");
    expect(failure("+a=1", "~a=2")).toContain("The value of 'a' is 1 and not 2");
    expect(failure("+a=1", "+a=2")).toMatch(/already at 'a'.*'a=2'.*'\+\+a=2'/s);
    expect(failure("+a=[1]", "++a.5=2")).toContain("not an index into a list of 1");
  });

  it("uses flag values literally", () => {
    const flag = (value: unknown): Override => ({
      op: "+",
      path: "policy_model_name",
      value,
      source: "--model",
    });
    expect(apply(flag("a=b,c ${d} '"))).toEqual({ policy_model_name: "a=b,c ${d} '" });
    expect(failure(flag("a"), "+policy_model_name=b")).toContain("already at 'policy_model_name'");
    expect(apply(flag("a"), "++policy_model_name=b")).toEqual({ policy_model_name: "b" });
  });

  it("shows no secrets in messages", () => {
    const flag: Override = { op: "+", path: "policy_api_key", value: "s3cret", source: "--model-api-key" };
    for (const words of [
      ["+policy_api_key=x", flag],
      [flag, "+policy_api_key=s3cret"],
      ["+policy_api_key=s3cret=1"],
      ["+a_token=s3cret,2"],
      [flag, "~policy_api_key=other"],
    ])
      expect(failure(...words)).not.toContain("s3cret");
  });

  it("limits the depth of keys", () => {
    expect(failure(`+${Array(5000).fill("a").join(".")}=1`)).toContain("segments");
  });

  it("does not change prototypes", () => {
    const root = applyOverrides(["+__proto__.polluted=1"], {});
    expect([...root.entries.keys()]).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
