import { describe, expect, it } from "vitest";
import { createSandboxProvider } from "./create-provider.ts";
import { openSandbox, providerOf } from "./open-sandbox.ts";
import { resolveSandboxProvider } from "./resolve-provider.ts";

describe("resolveSandboxProvider", () => {
  it("finds a block by its name, or uses an inline block", () => {
    const config = {
      sandbox: { docker: { create: { network: null } }, default_metadata: { api: "docker" } },
    };
    expect(resolveSandboxProvider(config, "sandbox")).toEqual({
      name: "docker",
      settings: { create: { network: null } },
      defaultMetadata: { api: "docker" },
    });
    expect(resolveSandboxProvider({}, { bubblewrap: null })).toEqual({
      name: "bubblewrap",
      settings: null,
      defaultMetadata: {},
    });
  });

  it.each([
    [{}, "sandbox", /'sandbox' is not in the config. Add one.*'sandbox: \{bubblewrap: \{\}\}'/],
    [{}, "docker", /inline: \{docker: \{\}\}/],
    [{ sandbox: { docker: {} } }, "sandbx", /Did you mean 'sandbox'\?/],
    [{ mine: { docker: {} } }, "theirs", /Sandbox blocks: mine/],
    [{ sandbox: { dockr: {} } }, "sandbox", /unknown provider 'dockr'. Did you mean 'docker'\?/],
    [
      { sandbox: { firecracker: {} } },
      "sandbox",
      /unknown provider 'firecracker'. Known: bubblewrap, docker/,
    ],
    [
      { sandbox: { docker: {}, enroot: {} } },
      "sandbox",
      /exactly one provider key, but has 'docker', 'enroot'/,
    ],
    [{ sandbox: { default_metadata: {} } }, "sandbox", /names no provider/],
    [{ sandbox: ["docker"] }, "sandbox", /must be a mapping with one provider key, not a list/],
    [{ sandbox: { docker: {}, default_metadata: "x" } }, "sandbox", /default_metadata must be a mapping/],
    [{ sandbox: { docker: {}, default_metadata: { a: 1 } } }, "sandbox", /default_metadata.a must be a text/],
    [{}, 3, /must be the name of a top-level block or a mapping/],
    [{}, "", /an empty text/],
    [{}, "constructor", /not in the config/],
  ])("reports the problem in %j with %j", (config, reference, message) => {
    expect(() => resolveSandboxProvider(config, reference)).toThrow(message);
  });
});

describe("createSandboxProvider", () => {
  it.each(["bubblewrap", "docker", "apptainer", "enroot"] as const)("creates %s", async (name) => {
    await expect(createSandboxProvider({ name, settings: null })).resolves.toMatchObject({ name });
  });

  it.each(["ecs_fargate", "openshell"] as const)("suggests alternatives to %s", async (name) => {
    const made = createSandboxProvider({ name, settings: {} });
    await expect(made).rejects.toMatchObject({ code: "SANDBOX_PROVIDER_UNAVAILABLE" });
    await expect(made).rejects.toThrow(/not available in this build.*Use 'docker'/s);
  });
});

describe("providerOf", () => {
  const globalConfig = { sandbox: { docker: {} }, other: { enroot: {} } };

  it("is the provider of the server, else of the block `sandbox`, else bubblewrap", () => {
    const server = { name: "a", globalConfig };
    expect(providerOf({ ...server, config: { sandbox_provider: "other" } }).name).toBe("enroot");
    expect(providerOf({ ...server, config: { sandbox_provider: { apptainer: {} } } }).name).toBe("apptainer");
    expect(providerOf({ ...server, config: { sandbox_provider: null } }).name).toBe("docker");
    expect(providerOf({ ...server, config: {} }).name).toBe("docker");
    expect(providerOf({ name: "a", globalConfig: {}, config: undefined }).name).toBe("bubblewrap");
  });

  it("fails before the start if the spec is invalid", async () => {
    const server = { name: "a", globalConfig: {}, config: { sandbox_spec: { imag: "x" } } };
    await expect(openSandbox(server)).rejects.toThrow(/did you mean 'image'/);
  });
});
