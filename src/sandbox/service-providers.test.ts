import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SandboxProvider } from "./provider.ts";
import { DaytonaProvider } from "./providers/daytona.ts";
import { labelValue, OpenSandboxProvider } from "./providers/opensandbox.ts";
import { Sandbox } from "./sandbox.ts";
import type { SandboxSpecInput } from "./spec.ts";

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A service with both APIs that runs commands on this machine. At the first check a sandbox is not ready yet. */
class ServiceDouble {
  readonly seen: Seen[] = [];
  readonly failures: { status: number; body: string }[] = [];
  looks = 0;
  state = "up";
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("latin1");
    const { method = "", url = "", headers } = request;
    this.seen.push({ method, url, headers, body });
    const failure = this.failures.shift();
    if (failure !== undefined) return void response.writeHead(failure.status).end(failure.body);
    const { status = 200, answer } = this.#reply(method, new URL(url, `http://${this.host}`), body);
    response
      .writeHead(status)
      .end(typeof answer === "string" || Buffer.isBuffer(answer) ? answer : JSON.stringify(answer));
  }

  #reply(
    method: string,
    { pathname, searchParams }: URL,
    body: string,
  ): { status?: number; answer?: unknown } {
    const isMade = this.looks > 0;
    if (method === "DELETE") {
      const there = this.state === "up";
      this.state = "gone";
      return there ? { status: 204, answer: "" } : { status: 404, answer: { message: "not found" } };
    }
    if (method === "POST" && pathname === "/api/sandbox") return { answer: { id: "s1", state: "creating" } };
    if (method === "POST" && pathname === "/v1/sandboxes")
      return { status: 202, answer: { id: "s1", status: { state: "Pending" } } };
    if (pathname === "/api/sandbox/s1" || pathname === "/v1/sandboxes/s1") {
      if (this.state === "gone") return { status: 404, answer: { message: "not found" } };
      this.looks += 1;
      const states =
        this.state === "failed"
          ? ["error", "Failed"]
          : isMade
            ? ["started", "Running"]
            : ["creating", "Pending"];
      return {
        answer: {
          id: "s1",
          ...(pathname.startsWith("/api")
            ? { state: states[0], errorReason: "no room", toolboxProxyUrl: `http://${this.host}/toolbox/` }
            : { status: { state: states[1], message: "no room" } }),
        },
      };
    }
    if (pathname.endsWith("/preview-url")) return { answer: { url: "https://8080-s1.example", token: "t" } };
    if (pathname.includes("/endpoints/")) {
      const isExec = pathname.endsWith("/44772");
      return {
        answer: {
          endpoint: isExec ? `${this.host}/execd` : "host.example/s1/8080/",
          headers: { "x-route": "r" },
        },
      };
    }
    if (pathname.endsWith("/process/execute")) return this.#execute(body);
    if (pathname === "/execd/command") return this.#stream(body);
    if (pathname === "/execd/command/status/c1") return { answer: { exit_code: 7 } };
    if (pathname.endsWith("/files/upload")) {
      const target =
        searchParams.get("path") ??
        (JSON.parse(/\{"path".*?\}/.exec(body)?.[0] ?? "{}") as { path: string }).path;
      const start = body.lastIndexOf("\r\n\r\n") + 4;
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, Buffer.from(body.slice(start, body.lastIndexOf("\r\n--")), "latin1"));
      return { answer: "" };
    }
    if (pathname.endsWith("/files/download")) {
      try {
        return { answer: readFileSync(searchParams.get("path") ?? "") };
      } catch {
        return { status: 404, answer: { message: "no such file" } };
      }
    }
    return { status: 501, answer: { message: `unexpected ${method} ${pathname}` } };
  }

  #execute(body: string): { status?: number; answer?: unknown } {
    const {
      command,
      cwd,
      timeout = 60,
    } = JSON.parse(Buffer.from(body, "latin1").toString()) as {
      command: string;
      cwd?: string;
      timeout?: number;
    };
    const { status, stdout, error } = spawnSync("sh", ["-c", command], {
      cwd,
      timeout: timeout * 1000,
      encoding: "utf8",
    });
    if (error) return { status: 408, answer: { message: "command execution timeout" } };
    return { answer: { exitCode: status, result: stdout } };
  }

  #stream(body: string): { answer: string } {
    const {
      command,
      cwd,
      timeout = 60_000,
      envs,
    } = JSON.parse(Buffer.from(body, "latin1").toString()) as {
      command: string;
      cwd?: string;
      timeout?: number;
      envs: Record<string, string>;
    };
    const { status, stdout, stderr } = spawnSync("bash", ["-c", command], {
      cwd,
      timeout,
      encoding: "utf8",
      env: { ...process.env, ...envs },
    });
    const end =
      command === "tells nothing"
        ? []
        : status === 0
          ? [{ type: "execution_complete", execution_time: 1 }]
          : [{ type: "error", error: { ename: "CommandExecError", evalue: String(status ?? -1) } }];
    const events = [
      { type: "init", text: "c1" },
      { type: "ping", text: "pong" },
      { type: "stdout", text: stdout },
      { type: "stderr", text: stderr },
      ...end,
    ];
    return {
      answer: events
        .map((event, index) => `${index % 2 === 0 ? "" : "data: "}${JSON.stringify(event)}\n\n`)
        .join(""),
    };
  }
}

let double: ServiceDouble;
let directory: string;
const KEY = "key-that-nobody-may-see";
const operations = { poll_s: 0.02, retry_delay_s: 0.01, retries: 2 };
const create = { retry_delay_s: 0.01, timeout_s: 5 };

beforeEach(async () => {
  double = new ServiceDouble();
  await double.start();
  directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-test-"));
});
afterEach(async () => {
  await double.stop();
  rmSync(directory, { recursive: true });
});

const daytona = (more: object = {}) =>
  new DaytonaProvider(
    { connection: { api_key: KEY, api_url: `http://${double.host}/api/` }, create, operations, ...more },
    {},
  );
const opensandbox = (more: object = {}) =>
  new OpenSandboxProvider(
    {
      connection: { api_key: KEY, domain: double.host, use_server_proxy: true },
      create,
      operations,
      ...more,
    },
    {},
  );

const start = (provider: SandboxProvider, spec: SandboxSpecInput = {}) =>
  new Sandbox(
    provider,
    { image: "python:3.12", ...spec },
    { attribution: { team: "a team!", run: "r" } },
  ).start();

describe.each([
  ["daytona", daytona],
  ["opensandbox", opensandbox],
] as const)("%s sandboxes", (_, make) => {
  it("run commands after their start", async () => {
    const sandbox = await start(make(), { workdir: directory, env: { A: "1" } });
    expect(double.looks).toBeGreaterThan(1);
    const result = await sandbox.exec('pwd; echo "$A|$B"; echo oops >&2; exit 3', { env: { B: "it's" } });
    expect(result).toEqual({
      stdout: `${directory}\n1|it's\n`,
      stderr: "oops\n",
      return_code: 3,
      error_type: null,
    });
    await expect(sandbox.exec("true")).resolves.toMatchObject({ return_code: 0 });
    await expect(sandbox.exec("sleep 5", { timeoutSeconds: 1 })).resolves.toMatchObject({
      return_code: 125,
      error_type: "timeout",
    });
    await expect(sandbox.status()).resolves.toBe("running");
    await sandbox.stop();
    await expect(sandbox.status()).resolves.toBe("stopped");
  });

  it("copy files in and out", async () => {
    const target = path.join(directory, "deep", "a b&c.bin");
    const sandbox = await start(make(), { files: { [target]: "héllo\r\n--x" } });
    expect(readFileSync(target, "utf8")).toBe("héllo\r\n--x");
    await sandbox.download(target, path.join(directory, "new", "out"));
    expect(readFileSync(path.join(directory, "new", "out"), "utf8")).toBe("héllo\r\n--x");
    await expect(sandbox.download("/nowhere", path.join(directory, "no"))).rejects.toThrow(
      /404 from .*no such file/,
    );
  });

  it("retry temporary errors, and report other errors without the key", async () => {
    double.failures.push({ status: 503, body: "busy" });
    await start(make());
    double.failures.push({ status: 401, body: JSON.stringify({ message: `bad key ${KEY}` }) });
    const rejected = start(make());
    await expect(rejected).rejects.toThrow(/401 from 127.0.0.1:\d+: bad key \*\*\*\*/);
    await expect(rejected).rejects.not.toThrow(KEY);
  });

  it("are removed if they do not start", async () => {
    double.state = "failed";
    await expect(start(make())).rejects.toThrow(/no room/);
    expect(double.seen.at(-1)?.method).toBe("DELETE");
    double.state = "up";
    const unready = start(make({ probe: { expected_stdout: "never" } }));
    await expect(unready).rejects.toMatchObject({ code: "SANDBOX_NOT_READY" });
    expect(double.seen.at(-1)?.method).toBe("DELETE");
  });

  it("report a failure of the service as a failure of the sandbox, not of the command", async () => {
    const sandbox = await start(make());
    double.failures.push({ status: 502, body: "gone" });
    await expect(sandbox.exec("true")).resolves.toMatchObject({ return_code: 125, error_type: "sandbox" });
    await expect(sandbox.exec("cat", { stdin: "x" })).rejects.toMatchObject({ code: "SANDBOX_SPEC" });
  });

  it("stop when the signal fires, and accept connections by descriptor", async () => {
    const sandbox = await start(make(), { workdir: directory });
    const other = await Sandbox.connect(make(), JSON.parse(JSON.stringify(sandbox.serialize())));
    await expect(other.exec("pwd")).resolves.toMatchObject({ stdout: `${directory}\n` });
    const controller = new AbortController();
    controller.abort(new Error("given up"));
    await expect(sandbox.exec("true", { signal: controller.signal })).rejects.toThrow("given up");
  });
});

describe("daytona", () => {
  it("requests the properties of the spec, without a network", async () => {
    const sandbox = await start(daytona(), {
      env: { A: "1" },
      resources: { cpu: 1.5, memory_mib: 1500, disk_gib: 3 },
      ports: [8080],
    });
    expect(double.seen[0]?.headers["authorization"]).toBe(`Bearer ${KEY}`);
    expect(JSON.parse(double.seen[0]?.body ?? "")).toEqual({
      buildInfo: { dockerfileContent: "FROM python:3.12\n" },
      env: { A: "1" },
      labels: { team: "a team!", run: "r" },
      networkBlockAll: true,
      cpu: 2,
      memory: 2,
      disk: 3,
    });
    await expect(sandbox.endpoint(8080)).resolves.toEqual({
      endpoint: "https://8080-s1.example",
      headers: { "x-daytona-preview-token": "t" },
    });
  });

  it("requires a key", () => {
    expect(() => new DaytonaProvider({}, {})).toThrow(/DAYTONA_API_KEY/);
    expect(new DaytonaProvider({}, { DAYTONA_API_KEY: "k" }).name).toBe("daytona");
  });
});

describe("opensandbox", () => {
  it("requests the properties of the spec, without a network and with valid labels", async () => {
    const sandbox = await start(opensandbox(), {
      ttl_s: 5,
      resources: { cpu: 0.25, memory_mib: 512, gpu: 1 },
      metadata: { task: "t/1" },
      ports: [8080],
    });
    expect(double.seen[0]?.headers["open-sandbox-api-key"]).toBe(KEY);
    expect(JSON.parse(double.seen[0]?.body ?? "")).toEqual({
      image: { uri: "python:3.12" },
      timeout: 60,
      resourceLimits: { cpu: "250m", memory: "512Mi", gpu: "1" },
      entrypoint: ["tail", "-f", "/dev/null"],
      env: {},
      metadata: { "nemo-gym.nvidia.com/team": "a-team", "nemo-gym.nvidia.com/run": "r", task: "t-1" },
      networkPolicy: { defaultAction: "deny" },
    });
    await expect(sandbox.endpoint(8080)).resolves.toEqual({
      endpoint: "http://host.example/s1/8080",
      headers: { "x-route": "r" },
    });
    expect(double.seen.find(({ url }) => url.includes("44772"))?.url).toContain("use_server_proxy=true");
    expect(double.seen.find(({ url }) => url === "/execd/command")?.headers["x-route"]).toBe("r");
  });

  it("asks for the exit code if the stream does not contain it", async () => {
    const sandbox = await start(opensandbox());
    await expect(sandbox.exec("tells nothing")).resolves.toMatchObject({ return_code: 7, error_type: null });
    await expect(sandbox.exec("true", { user: "ada" })).rejects.toThrow(/only numeric users/);
  });

  it("requires an address, and an image, a snapshot or a pool", async () => {
    expect(() => new OpenSandboxProvider({}, {})).toThrow(/OPEN_SANDBOX_DOMAIN/);
    await expect(start(opensandbox(), { image: null })).rejects.toThrow(/snapshot_id/);
    expect([labelValue("-a b-"), labelValue("x".repeat(70)).length, labelValue("é")]).toEqual([
      "a-b",
      63,
      "",
    ]);
  });
});
