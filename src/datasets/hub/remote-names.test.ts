import { describe, expect, it } from "vitest";
import { checkArtifactPath, checkRepositoryId } from "./remote-names.ts";

describe("checkRepositoryId", () => {
  it.each(["acme/sums", "nvidia/Nemotron-RL-math", "a/b", "open_ai/gsm8k.v2", "01-ai/x"])(
    "takes %s",
    (id) => {
      expect(checkRepositoryId(id)).toBe(id);
    },
  );

  it.each([
    "",
    "acme",
    "/sums",
    "acme/",
    "acme/sums/more",
    "../../x/y",
    "../x",
    "acme/..",
    "acme/a b",
    "acme/ü",
    "acme/a?b",
    "acme/a%2Fb",
    "-acme/sums",
    "acme/sums.",
    "acme/a--b",
    `acme/${"x".repeat(100)}`,
  ])("refuses %s", (id) => {
    expect(() => checkRepositoryId(id)).toThrow("is not a repository: it must be <owner>/<name>");
  });
});

describe("checkArtifactPath", () => {
  it.each(["train.jsonl", "data/train file.jsonl", "a/..b/c", "ü.jsonl"])("takes %s", (artifact) => {
    expect(checkArtifactPath(artifact)).toBe(artifact);
  });

  it.each(["", "/etc/passwd", "../../../etc/passwd", "a/../b", "a//b", "a/", "./a", "a\\..\\b", "a\nb"])(
    "refuses %j",
    (artifact) => {
      expect(() => checkArtifactPath(artifact)).toThrow("is not the path of a file in a dataset");
    },
  );
});
