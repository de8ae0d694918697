import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandboxProvider } from "./create-provider.ts";
import { ModalProvider } from "./providers/modal.ts";
import type { ModalClient, ModalSandbox, ModalSdk } from "./providers/modal-sdk.ts";
import { Sandbox } from "./sandbox.ts";
import type { SandboxSpecInput } from "./spec.ts";

const named = (name: string, message: string) => Object.assign(new Error(message), { name });

/** The service: sandboxes that are programs of this machine. */
class Service {
  readonly clients: Record<string, unknown>[] = [];
  readonly created: { app: unknown; image: unknown; options: Record<string, unknown> }[] = [];
  readonly limits: (number | undefined)[] = [];
  createFailure: Error | undefined;
  endFailures = 0;
  ends = 0;
  exit: number | null = null;
  onCreate = () => {};

  readonly sdk: ModalSdk = {
    ModalClient: class {
      constructor(options: Record<string, unknown>) {
        service.clients.push(options);
        if (options["tokenId"] === undefined) throw new Error("Profile is missing credentials.");
        Object.assign(this, service.client());
      }
    } as unknown as ModalSdk["ModalClient"],
  };

  client(): ModalClient {
    return {
      apps: { fromName: async (name) => ({ app: name }) },
      images: { fromRegistry: (tag) => ({ tag }) },
      sandboxes: {
        create: async (app, image, options) => {
          this.created.push({ app, image, options });
          if (this.createFailure) throw this.createFailure;
          this.onCreate();
          return this.sandbox((options["env"] ?? {}) as Record<string, string>);
        },
        fromId: async (id) => {
          if (id !== "sb-1") throw named("NotFoundError", `Sandbox ${id} not found`);
          return this.sandbox({});
        },
      },
      close: () => {},
    };
  }

  sandbox(own: Record<string, string>): ModalSandbox {
    return {
      sandboxId: "sb-1",
      filesystem: {
        copyFromLocal: async (local, remote) => copyFileSync(local, remote),
        copyToLocal: async (remote, local) => copyFileSync(remote, local),
        writeBytes: async (data, remote) => {
          mkdirSync(path.dirname(remote), { recursive: true });
          writeFileSync(remote, data);
        },
      },
      exec: async ([program = "", ...args], { workdir, env, timeoutMs }) => {
        this.limits.push(timeoutMs);
        if (args.at(-1) === "lose the connection") throw named("ClientError", "UNAVAILABLE: key-id-42");
        const child = spawn(program, args, { cwd: workdir, env: { ...process.env, ...own, ...env } });
        const ended = once(child, "close") as Promise<[number | null]>;
        // The service ends a command at its limit, and says only that it was killed.
        const timer =
          timeoutMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), timeoutMs + 50);
        const text = (stream: Readable) =>
          Readable.toWeb(stream.setEncoding("utf8")) as ReadableStream<string>;
        return {
          stdout: text(child.stdout),
          stderr: text(child.stderr),
          wait: async () => {
            const [code] = await ended;
            clearTimeout(timer);
            return code ?? 137;
          },
        };
      },
      tunnels: async () => ({ 8080: { url: "https://x.modal.host" } }),
      poll: async () => this.exit,
      terminate: async () => {
        this.ends++;
        if (this.endFailures-- > 0) throw named("ClientError", "UNAVAILABLE");
        if (this.exit !== null) throw named("NotFoundError", "gone");
        this.exit = 137;
      },
    };
  }
}

let service: Service;
let directory: string;
beforeEach(() => {
  service = new Service();
  directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-test-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const modal = (settings: object = {}) =>
  new ModalProvider(
    {
      connection: { token_id: "key-id-42", token_secret: "key-secret-42" },
      operations: { retry_delay_s: 0.01 },
      ...settings,
    },
    service.sdk,
  );
const start = (spec: SandboxSpecInput = {}, settings: object = {}) =>
  new Sandbox(modal(settings), { image: "debian:12", ...spec }, { attribution: { team: "red" } }).start();

describe("modal sandboxes", () => {
  it("run commands", async () => {
    const sandbox = await start({ workdir: directory, env: { A: "1" } });
    const result = await sandbox.exec('pwd; echo "$A|$B"; echo oops >&2; exit 3', { env: { B: "it's" } });
    expect(result).toEqual({
      stdout: `${directory}\n1|it's\n`,
      stderr: "oops\n",
      return_code: 3,
      error_type: null,
    });
    expect(service.limits.at(-1)).toBe(180_000);
    await expect(sandbox.exec("echo so far; exec sleep 60", { timeoutSeconds: 0.5 })).resolves.toMatchObject({
      return_code: 125,
      error_type: "timeout",
      stdout: "so far\n",
    });
    await expect(sandbox.exec("lose the connection")).resolves.toMatchObject({
      return_code: 125,
      error_type: "sandbox",
      stderr: "UNAVAILABLE: ****",
    });
    await expect(sandbox.exec("true", { user: "nobody" })).rejects.toThrow(/as the user of the image/);
    await expect(sandbox.exec("cat", { stdin: "x" })).rejects.toThrow(/standard input/);
    await expect(sandbox.status()).resolves.toBe("running");
    await sandbox.stop();
    await expect(sandbox.status()).resolves.toBe("stopped");
  });

  it("stop waiting when the caller stops", async () => {
    const sandbox = await start();
    const stop = new AbortController();
    const running = sandbox.exec("exec sleep 5", { signal: stop.signal, timeoutSeconds: 1 });
    stop.abort(new Error("no longer needed"));
    await expect(running).rejects.toThrow("no longer needed");
  });

  it("keep the beginning of long output, and read the rest", async () => {
    const sandbox = await start({}, { exec: { max_output_bytes: 5 } });
    const cut = await sandbox.exec("yes 0123456789 | head -c 3000000; echo end >&2");
    expect(cut).toMatchObject({ stdout: "01234", stderr: "end\n", output_truncated: true, return_code: 0 });
  });

  it("copy files in and out", async () => {
    const target = path.join(directory, "deep", "a b&c.bin");
    const sandbox = await start({ files: { [target]: "héllo\r\n" } });
    expect(readFileSync(target, "utf8")).toBe("héllo\r\n");
    await sandbox.upload(target, `${target}2`);
    await sandbox.download(`${target}2`, path.join(directory, "new", "out"));
    expect(readFileSync(path.join(directory, "new", "out"), "utf8")).toBe("héllo\r\n");
    await expect(sandbox.download("/nowhere", path.join(directory, "no"))).rejects.toThrow(
      "'/nowhere' was not copied",
    );
    await expect(sandbox.upload(directory, target)).rejects.toThrow("is not a regular file");
  });

  it("have no network unless configured, and the settings of spec and config", async () => {
    await start({
      ttl_s: 60,
      env: { A: "1" },
      resources: { cpu: 2, memory_mib: 512, gpu: 1, gpu_type: "T4" },
    });
    expect(service.created[0]).toEqual({
      app: { app: "nemo-gym" },
      image: { tag: "debian:12" },
      options: {
        ...{ timeoutMs: 60_000, blockNetwork: true, env: { A: "1" }, tags: { team: "red" } },
        ...{ cpu: 2, cpuLimit: 2, memoryMiB: 512, memoryLimitMiB: 512, gpu: "T4:1", encryptedPorts: [] },
      },
    });
    expect([modal().isOffline, modal({ create: { block_network: false } }).isOffline]).toEqual([true, false]);
  });

  it.each([
    [{ image: null }, {}, /need an image/],
    [{ resources: { disk_gib: 2 } }, {}, /no limit of disk/],
    [{ ports: [80] }, {}, /block_network: false/],
  ])("reject %j", async (spec, settings, message) => {
    await expect(start(spec as SandboxSpecInput, settings)).rejects.toThrow(message);
    expect(service.created).toEqual([]);
  });

  it("report a failed creation without the key, and leave nothing behind when stopped", async () => {
    service.createFailure = named("ResourceExhaustedError", "too much for key-secret-42");
    await expect(start()).rejects.toThrow("Modal created no sandbox: too much for ****");
    service.createFailure = undefined;
    const stop = new AbortController();
    service.onCreate = () => stop.abort(new Error("enough"));
    const spec = {
      image: "debian:12",
      env: {},
      files: {},
      metadata: {},
      resources: {},
      provider_options: {},
      ports: [],
    };
    await expect(modal().create(spec, { signal: stop.signal })).rejects.toThrow("enough");
    expect(service.ends).toBe(1);
  });

  it("are ended again after a failure", async () => {
    const sandbox = await start();
    service.endFailures = 2;
    await sandbox.stop();
    expect(service.ends).toBe(3);
    service.exit = null;
    service.endFailures = 9;
    await expect((await start()).stop()).rejects.toThrow("Modal sandbox 'sb-1' was not ended: UNAVAILABLE");
  });

  it("are reachable from other processes and over ports", async () => {
    const sandbox = await start({ ports: [8080] }, { create: { block_network: false } });
    await expect(sandbox.endpoint(8080)).resolves.toEqual({ endpoint: "https://x.modal.host", headers: {} });
    const again = await Sandbox.connect(modal(), sandbox.serialize());
    await expect(again.exec("echo hi")).resolves.toMatchObject({ stdout: "hi\n" });
    await expect(modal().connect({ sandbox_id: "sb-2" })).rejects.toThrow("Sandbox sb-2 not found");
  });
});

it("says what is missing", async () => {
  expect(() => new ModalProvider({}, service.sdk)).toThrow(
    /needs connection.token_id and token_secret, or MODAL_TOKEN_ID.*missing credentials/,
  );
  await expect(createSandboxProvider({ name: "modal", settings: {} })).rejects.toThrow(
    "Install it in your project: npm install modal@0.11",
  );
});
