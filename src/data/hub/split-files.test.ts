import { describe, expect, it } from "vitest";
import { globPattern } from "../../base/files/glob.ts";
import { dataFormat, splitFiles } from "./split-files.ts";

const splits = (files: string[], card?: string, config?: string) =>
  Object.fromEntries(splitFiles(files, card, config));

describe("splitFiles", () => {
  it("groups shards by their names", () => {
    expect(
      splits([
        "README.md",
        "data/train-00001-of-00002.parquet",
        "data/train-00000-of-00002.parquet",
        "data/hard_ones-00000-of-00001-ab12.parquet",
        "other.jsonl",
      ]),
    ).toEqual({
      train: ["data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet"],
      hard_ones: ["data/hard_ones-00000-of-00001-ab12.parquet"],
    });
  });

  it("finds split names in directories, then in file names", () => {
    expect(splits(["train/a.jsonl", "dev/b.jsonl", "test.jsonl"])).toEqual({
      train: ["train/a.jsonl"],
      validation: ["dev/b.jsonl"],
    });
    expect(
      splits(["my_train.jsonl", "sums-valid-2.jsonl", "training.jsonl", "eval.json.gz", "retrained.jsonl"]),
    ).toEqual({
      validation: ["sums-valid-2.jsonl"],
      train: ["my_train.jsonl", "training.jsonl"],
      test: ["eval.json.gz"],
    });
  });

  it("assigns everything to train if no name contains a split", () => {
    expect(
      splits(["a.jsonl", "b.jsonl", ".hidden.jsonl", "__x.jsonl", "dataset_infos.json", "pic.png"]),
    ).toEqual({
      train: ["a.jsonl", "b.jsonl"],
    });
    expect(splits(["README.md"])).toEqual({});
  });

  it("uses one format if the same rows exist in two", () => {
    expect(splits(["train.jsonl", "train_metrics.json"])).toEqual({ train: ["train.jsonl"] });
    expect(splits(["train.jsonl", "train.parquet"])).toEqual({ train: ["train.jsonl"] });
    expect(splits(["train-1.parquet", "train-2.parquet", "train.json"])).toEqual({
      train: ["train-1.parquet", "train-2.parquet"],
    });
  });

  const card = (configs: string) => `---\nlicense: mit\nconfigs:\n${configs}\n---\n# Title\n`;

  it("follows the dataset card", () => {
    const files = ["x/one.jsonl", "x/two.jsonl", "y.parquet", "train.jsonl"];
    const text = card(
      "- config_name: default\n  data_files:\n  - split: train\n    path: x/*.jsonl\n  - split: test\n    path: [y.parquet]",
    );
    expect(splits(files, text)).toEqual({ train: ["x/one.jsonl", "x/two.jsonl"], test: ["y.parquet"] });
    expect(splits(files, card("- config_name: only\n  data_files: '**/two.jsonl'"))).toEqual({
      train: ["x/two.jsonl"],
    });
    expect(splits(files, card("- config_name: only\n  data_files: {validation: y.parquet}"))).toEqual({
      validation: ["y.parquet"],
    });
    expect(splits(files, "---\n: : :\n---\n")).toEqual({ train: ["train.jsonl"] });
    expect(splits(files, "# no head")).toEqual({ train: ["train.jsonl"] });
  });

  it("asks for the config if there are several", () => {
    const text = card(
      "- config_name: easy\n  data_files: a.jsonl\n- config_name: hard\n  data_files: b.jsonl",
    );
    expect(() => splits(["a.jsonl", "b.jsonl"], text)).toThrow("several configs: easy, hard");
    expect(splits(["a.jsonl", "b.jsonl"], text, "hard")).toEqual({ train: ["b.jsonl"] });
    expect(() => splits(["a.jsonl"], text, "odd")).toThrow("no config 'odd'; it has: easy, hard");
  });
});

describe("dataFormat", () => {
  it.each([
    ["a.jsonl", "jsonl"],
    ["a.ndjson.gz", "jsonl"],
    ["a.json.gz", "json"],
    ["a.parquet", "parquet"],
    ["a.parquet.gz", undefined],
    ["a.csv", undefined],
  ])("%s: %s", (file, format) => {
    expect(dataFormat(file)).toBe(format);
  });
});

describe("globPattern", () => {
  it.each([
    ["data/*.jsonl", "data/a.jsonl", true],
    ["data/*.jsonl", "data/x/a.jsonl", false],
    ["**/a.jsonl", "a.jsonl", true],
    ["**/a.jsonl", "x/y/a.jsonl", true],
    ["data/**", "data/x/y", true],
    ["train-[0-9].{json,jsonl}", "train-7.jsonl", true],
    ["train-[!0-9].json", "train-7.json", false],
    ["a.b", "axb", false],
    ["a?c", "abc", true],
    ["[", "[", true],
  ])("%s on %s: %s", (glob, path, expected) => {
    expect(globPattern(glob, { braces: true }).test(path)).toBe(expected);
  });
});
