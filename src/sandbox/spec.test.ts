import { describe, expect, it } from "vitest";
import { parseSandboxSpec } from "./spec.ts";

describe("parseSandboxSpec", () => {
  it("reads every field and fills in empty values", () => {
    expect(parseSandboxSpec(undefined)).toMatchObject({
      env: {},
      files: {},
      metadata: {},
      provider_options: {},
      ports: [],
    });
    const spec = {
      image: "python:3.12",
      ttl_s: 60,
      ready_timeout_s: 1.5,
      workdir: "/w",
      env: { A: "1" },
      files: { "/a": "x" },
      metadata: { m: "1" },
      resources: { cpu: "1.5", memory_mib: 512, disk_gib: 2, gpu: 0, gpu_type: "H100" },
      entrypoint: ["tail", "-f", "/dev/null"],
      provider_options: { volumes: ["/a:/b"] },
      ports: [80, "8080"],
    };
    expect(parseSandboxSpec(spec)).toEqual({
      ...spec,
      ports: [80, 8080],
      resources: { ...spec.resources, cpu: 1.5 },
    });
  });

  it("treats null as absent", () => {
    expect(
      parseSandboxSpec({ image: null, ttl_s: null, resources: { cpu: null }, ports: null }).image,
    ).toBeUndefined();
  });

  it.each([
    [{ imge: "x" }, /unknown key 'imge' \(did you mean 'image'\?\)/],
    [{ resources: { memory: 5 } }, /resources: unknown key 'memory' \(did you mean 'memory_mib'\?\)/],
    [{ ports: [80, 80] }, /ports: A port may be listed only once/],
    [{ ports: [0] }, /ports.0/],
    [{ ports: [65_536] }, /ports.0/],
    [{ ports: [true] }, /ports.0/],
    [{ ports: ["8o"] }, /ports.0/],
    [{ ports: [1.5] }, /ports.0/],
    [{ ttl_s: 0 }, /ttl_s/],
    [{ env: { A: 1 } }, /env.A/],
    [{ files: { "/a": null } }, /files./],
    [{ resources: { cpu: -1 } }, /resources.cpu/],
    [[], /expected object/],
  ])("rejects %j", (spec, message) => {
    expect(() => parseSandboxSpec(spec)).toThrow(message);
  });
});
