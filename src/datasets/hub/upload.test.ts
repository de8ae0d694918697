import { describe, expect, it } from "vitest";
import { collectionId, repositoryName, resourcesServerOfPath } from "./upload.ts";

describe("hub names", () => {
  it("join prefix, domain and dataset name by hyphens where present", () => {
    const name = { organization: "acme", datasetName: "sums" };
    expect(repositoryName({ ...name, domain: "Math" })).toBe("acme/Nemotron-RL-math-sums");
    expect(repositoryName({ ...name, prefix: "NeMo-Gym", domain: "math" })).toBe("acme/NeMo-Gym-math-sums");
    expect(repositoryName({ ...name, prefix: "" })).toBe("acme/sums");
  });

  it("make a collection id of name and slug", () => {
    expect(collectionId("acme", "NeMo Gym Data", "68a1")).toBe("acme/nemo-gym-data-68a1");
  });

  it("take the resources server from the second part of the config path", () => {
    expect(resourcesServerOfPath("resources_servers/sums/configs/sums.yaml")).toBe("sums");
    expect(resourcesServerOfPath("./resources_servers/sums/configs/sums.yaml")).toBe("sums");
    expect(resourcesServerOfPath("sums.yaml")).toBeUndefined();
  });
});
