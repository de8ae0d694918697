import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createTestServer, MockModelEndpoint } from "nemo-gym/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import definition from "./app.ts";

let directory: string;
let proxy: MockModelEndpoint;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "switchyard-"));
  proxy = await new MockModelEndpoint({
    other: ({ path: asked }) => (asked === "/v1/stats" ? { body: { requests: 2 } } : undefined),
  }).start();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await proxy.close();
  await rm(directory, { recursive: true, force: true });
});

const recorded = async (name: string) =>
  JSON.parse(await readFile(path.join(directory, "record", name), "utf8")) as Record<string, unknown>;

const start = (config: Record<string, unknown>) =>
  createTestServer(definition, {
    config: { switchyard_model: "cheap-first", condition_dir: path.join(directory, "record"), ...config },
  });

describe("with a proxy that runs already", () => {
  it("asks for the route, with the rollout as session, and records the condition", async () => {
    const server = await start({
      switchyard_base_url: proxy.baseUrl,
      switchyard_api_key: "proxy-key-1",
      session_id_headers: ["x-switchyard-session-id", "proxy_x_session_id"],
      extra_body: { seed: 7 },
      proxy_provenance: { commit: "abc" },
    });
    const reply = await server.post("/ng-rollout/3-1/v1/responses", { input: "hi", model: "other" });
    expect(reply.status).toBe(200);
    const chat = { messages: [{ role: "user", content: "hi" }], seed: 8 };
    expect((await server.post("/v1/chat/completions", chat)).status).toBe(200);
    const [responses, completions] = proxy.requests;
    expect(responses).toMatchObject({
      body: { model: "cheap-first", seed: 7 },
      headers: {
        authorization: "Bearer proxy-key-1",
        "x-switchyard-session-id": "3-1",
        proxy_x_session_id: "3-1",
      },
    });
    expect(completions?.body).toMatchObject({ model: "cheap-first", seed: 8 });
    expect(completions?.headers).not.toHaveProperty("x-switchyard-session-id");
    await server.close();
    expect(await recorded("switchyard-condition.json")).toMatchObject({
      route: "cheap-first",
      mode: "attached",
      proxy_root_url: proxy.baseUrl.replace("/v1", ""),
      nemo_switchyard_version: null,
      proxy_provenance: { commit: "abc" },
      deployment_path: null,
      deployment_toml: null,
    });
    expect(await recorded("switchyard-stats.json")).toMatchObject({
      mode: "attached",
      stats: { requests: 2 },
    });
  });

  it("sends no session if told so, and serves even if nothing can be recorded", async () => {
    await writeFile(path.join(directory, "record"), "a file");
    const server = await start({ switchyard_base_url: proxy.baseUrl, forward_session_id: false });
    expect((await server.post("/ng-rollout/3-1/v1/responses", { input: "hi" })).status).toBe(200);
    expect(proxy.requests[0]?.headers).not.toHaveProperty("x-switchyard-session-id");
    await server.close();
  });
});

/** The package nemo-switchyard as far as it is used, in front of the endpoint of the test. */
async function fakePackage(): Promise<void> {
  const write = async (name: string, text: string) => {
    await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
    await writeFile(path.join(directory, name), text);
  };
  await write(
    "nemo_switchyard-0.2.0.dist-info/METADATA",
    "Metadata-Version: 2.1\nName: nemo-switchyard\nVersion: 0.2.0\n",
  );
  await write("switchyard_rust/__init__.py", "");
  await write(
    "switchyard_rust/server.py",
    `
class Server:
    def __init__(self, config, *, port=0):
        if "route" not in open(config).read():
            raise ValueError("no routes in " + config)
        self.base_url = "${proxy.baseUrl.replace("/v1", "")}"
    def close(self):
        open("${path.join(directory, "closed")}", "w").close()
`,
  );
  vi.stubEnv("PYTHONPATH", directory);
}

describe("with a deployment", () => {
  const TOML = `
[llm_clients.up]
api_key = "sk-inline-secret"
extra_headers = { Authorization = "Bearer header-secret" }
[routes.cheap-first]
target = "t"
`;

  it("starts the proxy, records its deployment without secrets, and stops it", async () => {
    await fakePackage();
    const deployment = path.join(directory, "routes.toml");
    await writeFile(deployment, TOML);
    const server = await start({ deployment });
    expect((await server.post("/v1/responses", { input: "hi" })).status).toBe(200);
    const condition = await recorded("switchyard-condition.json");
    expect(condition).toMatchObject({ mode: "hosted", nemo_switchyard_version: "0.2.0" });
    expect(condition["deployment_sha256"]).toMatch(/^[0-9a-f]{64}$/);
    expect(condition["deployment_toml"]).toBe(
      TOML.replace("sk-inline-secret", "<redacted>").replace("Bearer header-secret", "<redacted>"),
    );
    await server.close();
    expect(await readFile(path.join(directory, "closed"), "utf8")).toBe("");
    expect(await recorded("switchyard-stats.json")).toMatchObject({ mode: "hosted" });
  });

  it("says why the proxy does not start", async () => {
    await fakePackage();
    const deployment = path.join(directory, "routes.toml");
    await writeFile(deployment, "x = 1");
    await expect(start({ deployment })).rejects.toThrow(/did not start: it ended[\s\S]*no routes in/);
    await expect(start({ deployment, python_executable: "no-such-python" })).rejects.toThrow(
      /no-such-python cannot be started[\s\S]*pip install nemo-switchyard/,
    );
  });

  it("needs a proxy or a deployment, and one worker for the latter", async () => {
    await expect(start({})).rejects.toThrow(/deployment.*is required/);
    await expect(start({ deployment: "x.toml", num_workers: 2 })).rejects.toThrow(/num_workers.*must be 1/);
  });
});
