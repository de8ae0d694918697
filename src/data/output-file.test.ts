import { expect, it } from "vitest";
import { besidePath } from "./output-file.ts";

it.each([
  ["data/train.jsonl", "data/train_metrics.json"],
  ["data/a.b.jsonl", "data/a.b_metrics.json"],
  ["train", "train_metrics.json"],
  [".hidden", ".hidden_metrics.json"],
  ["data/v1.", "data/v1._metrics.json"],
  ["/x.d/y", "/x.d/y_metrics.json"],
])("names what belongs to %s %s", (file, expected) => {
  expect(besidePath(file, "_metrics.json")).toBe(expected);
});
