import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { resolveConfig } from "../resolve.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-test-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function resolve(top: string, reference: string) {
  const file = path.join(directory, "config.yaml");
  const agent = `my_agent:\n  responses_api_agents:\n    some_agent:\n      entrypoint: app.ts\n      sandbox_provider: ${reference}\n`;
  writeFileSync(file, agent + top);
  return resolveConfig({ overrides: [`+config_paths=[${file}]`], offline: true, env: {}, cwd: directory });
}

describe("sandbox blocks", () => {
  it("are in the resolved config as written", async () => {
    const config = await resolve(
      "sandbox:\n  default_metadata: {a: b}\n  docker: {create: {network: none}}\n",
      "sandbox",
    );
    expect(config.toObject()["sandbox"]).toEqual({
      default_metadata: { a: "b" },
      docker: { create: { network: "none" } },
    });
    expect(config.servers.map(({ name }) => name)).toEqual(["my_agent"]);
    await resolve("", "{bubblewrap: {}}");
    await resolve("sandbox: {firecracker: {}}\n", "sandbox");
    await resolve("", "null");
  });

  it.each([
    [
      "sandbox: {docker: {}}\n",
      "sandbx",
      /'my_agent', sandbox_provider refers to the sandbox block 'sandbx'.*config.yaml:5:25.*Did you mean 'sandbox'/,
    ],
    ["", "sandbox", /config.yaml:5:25.*'sandbox: \{bubblewrap: \{\}\}'/],
    [
      "sandbox:\n  docker: {}\n  enroot: {}\n",
      "sandbox",
      /has 2 provider keys \(docker, enroot\).*config.yaml:\d+/,
    ],
    ["sandbox: {default_metadata: {}}\n", "sandbox", /names no provider.*config.yaml:6/],
    ["sandbox: text\n", "sandbox", /names no provider/],
    ["sandbox:\n  dockr: {}\n", "sandbox", /unknown provider 'dockr'.*config.yaml:7.*Did you mean 'docker'/],
    ["", "{dockr: {}}", /inline sandbox_provider of 'my_agent' names the unknown provider 'dockr'/],
  ])("rejects %j with %j and reports the position", async (top, reference, message) => {
    await expect(resolve(top, reference)).rejects.toThrow(message);
    await expect(resolve(top, reference)).rejects.toMatchObject({ code: "CONFIG_SANDBOX" });
  });
});
