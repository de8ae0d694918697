import { describe, expect, it } from "vitest";
import {
  checkArtifactPath,
  checkRepositoryId,
  collectionId,
  repositoryName,
  resourcesServerOfPath,
} from "./remote-names.ts";

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
  ])("rejects %s", (id) => {
    expect(() => checkRepositoryId(id)).toThrow("is not a repository: it must be <owner>/<name>");
  });
});

describe("checkArtifactPath", () => {
  it.each(["train.jsonl", "data/train file.jsonl", "a/..b/c", "ü.jsonl"])("takes %s", (artifact) => {
    expect(checkArtifactPath(artifact)).toBe(artifact);
  });

  it.each(["", "/etc/passwd", "../../../etc/passwd", "a/../b", "a//b", "a/", "./a", "a\\..\\b", "a\nb"])(
    "rejects %j",
    (artifact) => {
      expect(() => checkArtifactPath(artifact)).toThrow("is not the path of a file in a dataset");
    },
  );
});

describe("hub names", () => {
  it("join prefix, domain and dataset name with hyphens", () => {
    const name = { organization: "acme", datasetName: "sums" };
    expect(repositoryName({ ...name, domain: "Math" })).toBe("acme/Nemotron-RL-math-sums");
    expect(repositoryName({ ...name, prefix: "NeMo-Gym", domain: "math" })).toBe("acme/NeMo-Gym-math-sums");
    expect(repositoryName({ ...name, prefix: "" })).toBe("acme/sums");
  });

  it("make a collection id from name and slug", () => {
    expect(collectionId("acme", "NeMo Gym Data", "68a1")).toBe("acme/nemo-gym-data-68a1");
  });

  it("take the resources server from the second part of the config path", () => {
    expect(resourcesServerOfPath("resources_servers/sums/configs/sums.yaml")).toBe("sums");
    expect(resourcesServerOfPath("./resources_servers/sums/configs/sums.yaml")).toBe("sums");
    expect(resourcesServerOfPath("sums.yaml")).toBeUndefined();
  });
});
