import { describe, expect, it } from "vitest";
import { parseDatasetEntry } from "./entry.ts";

const example = { name: "e", type: "example", jsonl_fpath: "data/e.jsonl" };
const parse = (raw: unknown) => parseDatasetEntry(raw, "agent 'a'");

describe("parseDatasetEntry", () => {
  it("fills in the defaults of an ordinary entry", () => {
    const entry = parse({ ...example, start_idx: 2, end_idx: 5, note: "kept out" });
    expect(entry).toMatchObject({ repeats: 1, lines: { start: 2, end: 5 }, gitlab: null, huggingface: null });
    expect(Object.keys(entry.shown)).toEqual([
      "name",
      "type",
      "jsonl_fpath",
      "num_repeats",
      "source",
      "gitlab_identifier",
      "huggingface_identifier",
      "license",
    ]);
  });

  it("copies the source to the older field and back", () => {
    const gitlab = { dataset_name: "d", version: "0.0.1", artifact_fpath: "x.jsonl" };
    expect(parse({ ...example, source: { type: "gitlab", ...gitlab } })).toMatchObject({ gitlab });
    const older = parse({ ...example, huggingface_identifier: { repo_id: "o/d" } });
    expect(older.shown).toMatchObject({
      source: { type: "huggingface", repo_id: "o/d", artifact_fpath: null },
    });
  });

  it("leaves the source empty if both older fields are given", () => {
    const entry = parse({
      ...example,
      gitlab_identifier: { dataset_name: "d", version: "1.0.0", artifact_fpath: "x" },
      huggingface_identifier: { repo_id: "o/d", artifact_fpath: "x" },
    });
    expect(entry.shown["source"]).toBeNull();
  });

  it("reads benchmarks without licence and source", () => {
    const entry = parse({
      ...example,
      type: "benchmark",
      prepare_script: "p.py",
      num_repeats: "3",
      license: "??",
    });
    expect(entry).toMatchObject({ type: "benchmark", repeats: 3, promptConfig: null });
    expect(Object.keys(entry.shown).at(-1)).toBe("num_repeats");
  });

  it.each([
    ["./data//b.jsonl", "data/b.jsonl"],
    ["data/../b.jsonl/", "data/../b.jsonl"],
    ["/data/./b.jsonl", "/data/b.jsonl"],
    ["//data/b.jsonl", "//data/b.jsonl"],
    ["///data", "/data"],
    ["", "."],
  ])("shows the path %j of a benchmark as %j, that of others as it is", (given, shown) => {
    const benchmark = { name: "b", type: "benchmark", jsonl_fpath: given, prepare_script: given };
    expect(parse({ ...benchmark, prompt_config: given }).shown).toMatchObject({
      jsonl_fpath: shown,
      prepare_script: shown,
      prompt_config: shown,
    });
    expect(parse({ ...example, jsonl_fpath: given }).shown).toMatchObject({ jsonl_fpath: given });
  });

  it.each([
    [{ ...example, type: "train" }, /license: a train dataset needs one: 'Apache 2.0'/],
    [{ ...example, license: "Beerware" }, /license: /],
    [{ ...example, type: "exmaple" }, /type: /],
    [{ ...example, num_repeats: 0 }, /num_repeats: must be at least 1/],
    [{ ...example, num_repeats: 1.5 }, /num_repeats: /],
    [{ ...example, num_repeats: null }, /num_repeats: /],
    [{ ...example, start_idx: -1 }, /start_idx: must be at least 0/],
    [{ ...example, jsonl_fpath: 7 }, /jsonl_fpath: /],
    [{ ...example, source: { type: "s3", path: "x" } }, /source/],
    [{ ...example, source: { type: "gitlab", dataset_name: "d", artifact_fpath: "x" } }, /source.version: /],
    [
      {
        ...example,
        source: { type: "huggingface", repo_id: "o/d" },
        huggingface_identifier: { repo_id: "o/d" },
      },
      /source: cannot be combined with huggingface_identifier/,
    ],
    [{ ...example, type: "benchmark" }, /prepare_script: /],
    ["train", /entry: /],
    [null, /entry: /],
  ])("rejects %j", (raw, message) => {
    expect(() => parse(raw)).toThrow(message);
    expect(() => parse(raw)).toThrow(/^agent 'a': the dataset /);
  });
});
