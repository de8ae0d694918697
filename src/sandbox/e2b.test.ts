import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandboxProvider } from "./create-provider.ts";
import { E2bProvider } from "./providers/e2b.ts";
import type { E2bCommand, E2bSandbox, E2bSdk } from "./providers/e2b-sdk.ts";
import { Sandbox } from "./sandbox.ts";
import type { SandboxSpecInput } from "./spec.ts";

const named = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name }, more);

/** The package `e2b` with sandboxes that are programs of this machine. */
class SdkDouble implements E2bSdk {
  readonly created: Record<string, unknown>[] = [];
  readonly users: (string | undefined)[] = [];
  createFailure: Error | undefined;
  killFailures = 0;
  kills = 0;
  isUp = true;
  readonly Sandbox = {
    create: async (options: Record<string, unknown>) => {
      this.created.push(options);
      if (this.createFailure) throw this.createFailure;
      return this.#sandbox((options["envs"] ?? {}) as Record<string, string>);
    },
    connect: async (id: string) => {
      if (id !== "s1") throw named("SandboxNotFoundError", `Sandbox ${id} not found`);
      return this.#sandbox({});
    },
  };

  #sandbox(spec: Record<string, string>): E2bSandbox {
    return {
      sandboxId: "s1",
      trafficAccessToken: "t",
      commands: {
        run: async (command, { cwd, envs, user, timeoutMs, onStdout, onStderr }) => {
          this.users.push(user);
          if (command === "lose the connection") throw named("SandboxError", "terminated");
          const env = { ...process.env, ...spec, ...envs };
          const child = spawn("bash", ["-c", command], { cwd, env, detached: true });
          return new CommandDouble(child, timeoutMs, { onStdout, onStderr });
        },
      },
      files: {
        write: async (file, data) => {
          mkdirSync(path.dirname(file), { recursive: true });
          writeFileSync(file, Buffer.from(await new Response(data).arrayBuffer()));
        },
        read: async (file) => {
          try {
            return new Blob([readFileSync(file)]).stream();
          } catch {
            throw named("FileNotFoundError", `path '${file}' does not exist`);
          }
        },
      },
      getHost: (port) => `${port}-s1.e2b.app`,
      isRunning: async () => this.isUp,
      kill: async () => {
        this.kills++;
        if (this.killFailures-- > 0) throw named("SandboxError", "503");
        const wasUp = this.isUp;
        this.isUp = false;
        return wasUp;
      },
    };
  }
}

class CommandDouble implements E2bCommand {
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;
  readonly #timeoutMs: number;

  constructor(
    child: ChildProcess,
    timeoutMs: number,
    { onStdout, onStderr }: { onStdout(data: string): void; onStderr(data: string): void },
  ) {
    this.#child = child;
    this.#timeoutMs = timeoutMs;
    child.stdout?.setEncoding("utf8").on("data", (data: string) => {
      this.stdout += data;
      onStdout(data);
    });
    child.stderr?.setEncoding("utf8").on("data", (data: string) => {
      this.stderr += data;
      onStderr(data);
    });
  }

  async wait() {
    let isLate = false;
    const end = () => {
      isLate = true;
      void this.kill();
    };
    const timer = this.#timeoutMs > 0 ? setTimeout(end, this.#timeoutMs) : undefined;
    const [exitCode] = (await once(this.#child, "close")) as [number | null];
    clearTimeout(timer);
    if (isLate) throw named("TimeoutError", "the command timed out");
    const { stdout, stderr } = this;
    if (exitCode !== 0)
      throw named("CommandExitError", "exit status", { exitCode: exitCode ?? -1, stdout, stderr });
    return { exitCode, stdout, stderr };
  }

  async kill() {
    return process.kill(-(this.#child.pid as number), "SIGKILL");
  }
}

const KEY = "key-that-nobody-may-see";
let sdk: SdkDouble;
let directory: string;
beforeEach(() => {
  sdk = new SdkDouble();
  directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-test-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const e2b = (settings: object = {}) =>
  new E2bProvider(
    { connection: { api_key: KEY }, operations: { retry_delay_s: 0.01 }, ...settings },
    sdk,
    {},
  );
const start = (spec: SandboxSpecInput = {}, settings: object = {}) =>
  new Sandbox(e2b(settings), spec, { attribution: { team: "red" } }).start();

describe("e2b sandboxes", () => {
  it("run commands", async () => {
    const sandbox = await start({ workdir: directory, env: { A: "1" } });
    const result = await sandbox.exec('pwd; echo "$A|$B"; echo oops >&2; exit 3', { env: { B: "it's" } });
    expect(result).toEqual({
      stdout: `${directory}\n1|it's\n`,
      stderr: "oops\n",
      return_code: 3,
      error_type: null,
    });
    await expect(sandbox.exec("true", { user: 0 })).resolves.toMatchObject({ return_code: 0 });
    expect(sdk.users).toEqual([undefined, "root"]);
    await expect(sandbox.exec("echo so far; sleep 60", { timeoutSeconds: 0.5 })).resolves.toMatchObject({
      return_code: 125,
      error_type: "timeout",
      stdout: "so far\n",
    });
    await expect(sandbox.exec("lose the connection")).resolves.toMatchObject({
      return_code: 125,
      error_type: "sandbox",
      stderr: "terminated",
    });
    await expect(sandbox.status()).resolves.toBe("running");
    await sandbox.stop();
    await expect(sandbox.status()).resolves.toBe("stopped");
  });

  it("end a command when the caller stops", async () => {
    const sandbox = await start();
    const stop = new AbortController();
    const running = sandbox.exec("sleep 60", { signal: stop.signal });
    stop.abort(new Error("no longer needed"));
    await expect(running).rejects.toThrow("no longer needed");
  });

  it("cut long output, and end a command that floods", async () => {
    const sandbox = await start({}, { exec: { max_output_bytes: 5 } });
    const cut = await sandbox.exec("echo 0123456789");
    expect(cut).toMatchObject({ stdout: "01234", output_truncated: true, return_code: 0 });
    const flood = await sandbox.exec("yes 0123456789012345678901234567890123456789");
    expect(flood).toMatchObject({
      error_type: "sandbox",
      stderr: expect.stringContaining("wrote more than"),
    });
  });

  it("copy files in and out", async () => {
    const target = path.join(directory, "deep", "a b&c.bin");
    const sandbox = await start({ files: { [target]: "héllo\r\n" } });
    expect(readFileSync(target, "utf8")).toBe("héllo\r\n");
    await sandbox.upload(target, `${target}2`);
    await sandbox.download(`${target}2`, path.join(directory, "new", "out"));
    expect(readFileSync(path.join(directory, "new", "out"), "utf8")).toBe("héllo\r\n");
    await expect(sandbox.download("/nowhere", path.join(directory, "no"))).rejects.toThrow(
      "'/nowhere' was not copied: path '/nowhere' does not exist",
    );
    await expect(sandbox.upload(directory, target)).rejects.toThrow("is not a regular file");
  });

  it("have no network unless configured, and the settings of the config", async () => {
    await start({ ttl_s: 60, env: { A: "1" } });
    expect(sdk.created[0]).toMatchObject({
      apiKey: KEY,
      timeoutMs: 60_000,
      allowInternetAccess: false,
      envs: { A: "1" },
      metadata: { team: "red" },
    });
    expect(e2b().isOffline).toBe(true);
    expect(e2b({ create: { allow_internet_access: true } }).isOffline).toBe(false);
  });

  it.each([
    [{ provider_options: { template: "mine" }, image: "x:1" }, "mine"],
    [{ image: "python:3.12" }, "py"],
    [{ image: "code-interpreter" }, "code-interpreter"],
    [{}, "base"],
  ])("run the template for %j", async (spec, template) => {
    await start(spec, { create: { template: "base", template_map: { "python:3.12": "py" } } });
    expect(sdk.created[0]?.["template"]).toBe(template);
  });

  it.each([
    [{ image: "ubuntu:22.04" }, {}, /name the template of 'ubuntu:22.04' in create.template_map/],
    [{ entrypoint: ["sh"] }, {}, /no entrypoint/],
    [{ resources: { cpu: 2 } }, { create: { strict_resources: true } }, /resources of their template/],
  ])("reject %j", async (spec, settings, message) => {
    await expect(start(spec, settings)).rejects.toThrow(message);
    expect(sdk.created).toEqual([]);
  });

  it("report a failed creation once and without the key", async () => {
    sdk.createFailure = named("RateLimitError", `too many requests with ${KEY}`);
    await expect(start()).rejects.toThrow("E2B created no sandbox: too many requests with ****");
    expect(sdk.created).toHaveLength(1);
  });

  it("are ended again after a failure", async () => {
    const sandbox = await start();
    sdk.killFailures = 2;
    await sandbox.stop();
    expect(sdk.kills).toBe(3);
    sdk.killFailures = 9;
    await expect((await start()).stop()).rejects.toThrow("E2B sandbox 's1' was not ended: 503");
  });

  it("are reachable from other processes and over ports", async () => {
    const sandbox = await start({ ports: [8080] });
    await expect(sandbox.endpoint(8080)).resolves.toEqual({
      endpoint: "https://8080-s1.e2b.app",
      headers: { "e2b-traffic-access-token": "t" },
    });
    const again = await Sandbox.connect(e2b(), sandbox.serialize());
    await expect(again.exec("echo hi")).resolves.toMatchObject({ stdout: "hi\n" });
    await expect(e2b().connect({ sandbox_id: "s2" })).rejects.toThrow(
      "E2B sandbox 's2': Sandbox s2 not found",
    );
  });
});

it("says what is missing", async () => {
  expect(() => new E2bProvider({}, sdk, {})).toThrow("connection.api_key, or the variable E2B_API_KEY");
  await expect(createSandboxProvider({ name: "e2b", settings: {} })).rejects.toThrow(
    "Install it in your project: npm install e2b",
  );
});
