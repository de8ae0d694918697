import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestServer, fakeVllm, type TestServer, VllmDouble } from "nemo-gym/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GUARD, VllmEngine } from "../../libraries/vllm/engine.ts";
import { serveArguments } from "../../libraries/vllm/serve-arguments.ts";
import proxyDefinition from "../local_vllm_model_proxy/app.ts";
import definition from "./app.ts";

let folder: string;
let executable: string;
const open: { close(): Promise<unknown> }[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gym-vllm-"));
  executable = await fakeVllm(folder);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  await rm(folder, { recursive: true });
});

async function start(
  config: Record<string, unknown> = {},
  env: Record<string, string> = {},
): Promise<TestServer> {
  const server = await createTestServer(definition, {
    name: "engine_server",
    globalConfig: { hf_token: "hf_secret_token_1" },
    config: {
      model: "toy/toy-1b",
      return_token_id_information: false,
      uses_reasoning_parser: true,
      vllm_executable: executable,
      vllm_serve_kwargs: { tensor_parallel_size: 1, enable_auto_tool_choice: true },
      vllm_serve_env_vars: env,
      retry_first_pause_seconds: 0.1,
      ...config,
    },
  });
  open.push(server);
  return server;
}

/** Zombie processes do not count. */
function isAlive(pid: number): boolean {
  const stat = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
  return stat !== "" && !stat.startsWith("Z");
}

it("creates the options of vllm serve", () => {
  expect(
    serveArguments({
      tensor_parallel_size: 8,
      trust_remote_code: true,
      enable_prefix_caching: false,
      chat_template: null,
      speculative_config: { method: "ngram" },
      served_model_name: ["a", "b"],
    }),
  ).toEqual([
    "--tensor-parallel-size",
    "8",
    "--trust-remote-code",
    "--no-enable-prefix-caching",
    "--speculative-config",
    '{"method":"ngram"}',
    "--served-model-name",
    "a",
    "b",
  ]);
});

describe("local_vllm_model", () => {
  it("starts the engine, uses it, and leaves no processes behind", async () => {
    const pids = join(folder, "pids");
    const server = await start({}, { FAKE_VLLM_PIDS: pids });
    const { status, body } = await server.post("/v1/responses", { input: "Hello" });
    expect(status).toBe(200);
    expect(body.output[0].content[0].text).toContain("Hello");
    const inner = await server.get("/get_inner_vllm_config");
    expect(inner.body).toMatchObject({ api_key: "dummy", model: "toy/toy-1b" });
    expect(inner.body.base_url[0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    const started = (await readFile(pids, "utf8")).trim().split("\n").map(Number);
    expect(started.map(isAlive)).toEqual([true, true]);
    await server.close();
    expect(started.map(isAlive)).toEqual([false, false]);
  });

  it("reports why the engine did not start, without secrets", async () => {
    await expect(start({}, { FAKE_VLLM: "crash" })).rejects.toSatisfy(({ message }: Error) => {
      expect(message).toContain("vllm serve toy/toy-1b ended with code 3. Its last lines:");
      expect(message).toContain('"--tensor-parallel-size","1","--enable-auto-tool-choice"');
      expect(message).toContain("torch.OutOfMemoryError");
      return !message.includes("hf_secret_token_1") && message.includes("token in use: ****");
    });
    await expect(start({ vllm_executable: join(folder, "missing") })).rejects.toThrow(
      /could not be started: is '.*missing' installed, and on the PATH\?.*ENOENT/s,
    );
    await expect(start({ startup_timeout_seconds: 0.3 }, { FAKE_VLLM: "silent" })).rejects.toThrow(
      "did not answer within 0.3 s",
    );
  });

  it("restarts an engine that died, while calls wait", { timeout: 90_000 }, async () => {
    const server = await start({ retry_seconds: 80 });
    const dying = server.post("/v1/responses", { input: "die now" }, server.newJar());
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await server.post("/v1/responses", { input: "Hello" })).toMatchObject({ status: 200 });
    expect(await dying).toMatchObject({ status: 200 });
  });

  it("restarts the engine several times if it does not start at once", { timeout: 60_000 }, async () => {
    const server = await start({ retry_seconds: 50 }, { FAKE_VLLM_CRASHES: "2" });
    expect(await server.post("/v1/responses", { input: "die now" })).toMatchObject({ status: 200 });
    expect((await readFile(`${executable}.crashes`, "utf8")).length).toBe(2);
  });

  it("ends calls at once after the last restart, with the reason", { timeout: 60_000 }, async () => {
    const server = await start({ max_restarts: 1, retry_seconds: 3_600 }, { FAKE_VLLM_CRASHES: "9" });
    const waiting = await server.post("/v1/responses", { input: "die now" });
    const cause =
      /^vllm serve toy\/toy-1b ended with code 3 \(torch\.OutOfMemoryError.*\); its restarts are used up \(max_restarts: 1\)/;
    expect(waiting).toMatchObject({
      status: 502,
      body: { error: { class: "connection", retryable: false, message: expect.stringMatching(cause) } },
    });
    const later = await server.post("/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }] });
    expect(later).toMatchObject({ status: 502, body: { error: { message: expect.stringMatching(cause) } } });
  });

  it("refuses num_workers, because each worker would start an engine", async () => {
    await expect(start({ num_workers: 2 })).rejects.toThrow("num_workers: each worker would start an engine");
  });

  it("chooses the address and the model, and treats an empty base_url as missing", async () => {
    const server = await start({
      base_url: "",
      vllm_serve_kwargs: { port: 1, host: "0.0.0.0", model: "other", seed: 3 },
    });
    expect((await server.get("/get_inner_vllm_config")).body.base_url).toHaveLength(1);
    expect((await server.post("/v1/responses", { input: "Hello" })).status).toBe(200);
  });

  it("reports a slow start and the state of the engine", async () => {
    const lines: string[] = [];
    const log = { debug() {}, info() {}, warn: (line: string) => lines.push(line), error() {} };
    const engine = new VllmEngine({
      executable,
      model: "toy/toy-1b",
      serveOptions: {},
      env: { FAKE_VLLM_START_MS: "1500" },
      secrets: [],
      startupTimeoutMs: 20_000,
      maxRestarts: 0,
      reportEveryMs: 300,
      verbose: false,
      log,
    });
    open.push({ close: () => engine.stop() });
    await engine.start();
    expect(lines.at(-1)).toMatch(/^the engine has been starting for \d+ s; it said last: /);
  });

  it("connects to base_url instead of starting an engine", async () => {
    const double = await new VllmDouble().start();
    open.push(double);
    const server = await start({ base_url: double.baseUrl, vllm_executable: "/nowhere" });
    expect((await server.post("/v1/responses", { input: "Hello" })).status).toBe(200);
    expect((await server.get("/get_inner_vllm_config")).body.base_url).toEqual([double.baseUrl]);
  });
});

it("ends when the server is killed", async () => {
  const owner = `
    const { spawn } = require("node:child_process");
    const options = { detached: true, stdio: ["pipe", "ignore", "ignore"] };
    const child = spawn(process.execPath, ["-e", process.argv[1], "--", "sleep", "300"], options);
    console.log(child.pid);
    setInterval(() => {}, 1000);
  `;
  const killed = spawn(process.execPath, ["-e", owner, "--", GUARD], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const guard = Number(await new Promise((resolve) => killed.stdout.once("data", resolve)));
  const members = () =>
    spawnSync("ps", ["-o", "stat=", "-g", String(guard)], { encoding: "utf8" })
      .stdout.split("\n")
      .filter((stat) => stat.trim() !== "" && !stat.startsWith("Z"));
  await expect.poll(() => members().length).toBe(2);
  killed.kill("SIGKILL");
  await expect.poll(() => members().length, { timeout: 5_000 }).toBe(0);
});

describe("local_vllm_model_proxy", () => {
  it("uses the engine of another server under its own settings", async () => {
    const double = await new VllmDouble({ answer: () => ({ reasoning: "hm", text: "Yes." }) }).start();
    open.push(double);
    const inner = await start({ base_url: double.baseUrl });
    const proxy = await createTestServer(proxyDefinition, {
      config: {
        model_server: { type: "responses_api_models", name: "engine_server" },
        return_token_id_information: true,
        request_prompt_and_generation_token_ids: true,
        uses_reasoning_parser: true,
      },
      servers: { engine_server: inner.app },
    });
    const { body } = await proxy.post("/v1/responses", { input: "Hello" });
    expect(body.model).toBe("toy/toy-1b");
    expect(body.output.at(-1).prompt_token_ids).toEqual(double.calls[0]?.promptIds);
  });
});
