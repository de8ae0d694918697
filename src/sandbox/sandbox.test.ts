import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ExecOptions, SandboxHandle, SandboxProvider } from "./provider.ts";
import { Sandbox } from "./sandbox.ts";
import type { SandboxSpec } from "./spec.ts";

/** Records its calls. */
class RecordingProvider implements SandboxProvider {
  readonly name = "recording";
  readonly log: unknown[] = [];
  readonly handle: SandboxHandle = { sandboxId: "s1", providerName: "recording", raw: undefined };
  spec: SandboxSpec | undefined;

  async create(spec: SandboxSpec) {
    this.spec = spec;
    this.log.push("create");
    return this.handle;
  }
  async exec(_: SandboxHandle, command: string, options: ExecOptions = {}) {
    this.log.push(["exec", command, options]);
    return { stdout: "", stderr: "", return_code: 0, error_type: null };
  }
  async uploadFile(_: SandboxHandle, source: string, target: string) {
    this.log.push(["upload", target, readFileSync(source, "utf8")]);
  }
  async downloadFile() {
    this.log.push("download");
  }
  async status() {
    return "running" as const;
  }
  async close() {
    this.log.push("close");
  }
  async aclose() {
    this.log.push("aclose");
  }
}

const attribution = { team: "t", run: "r" };

describe("Sandbox", () => {
  it("writes the files of its spec before it can be used", async () => {
    const provider = new RecordingProvider();
    const sandbox = new Sandbox(provider, { files: { "/a": "1", "/b": "é" } });
    await expect(sandbox.status()).resolves.toBe("unknown");
    await expect(sandbox.exec("true")).rejects.toThrow(/not been started/);
    await sandbox.start();
    expect(provider.log).toEqual(["create", ["upload", "/a", "1"], ["upload", "/b", "é"]]);
    expect(sandbox.id).toBe("s1");
  });

  it("runs commands in the work directory with a limit of 180 seconds", async () => {
    const provider = new RecordingProvider();
    const sandbox = await new Sandbox(provider, { workdir: "/w" }).start();
    await sandbox.exec("a");
    await sandbox.exec("b", { cwd: "/x", timeoutSeconds: 5, env: { A: "1" }, user: "root" });
    await sandbox.exec("c", { timeoutSeconds: null });
    expect(provider.log.slice(1)).toEqual([
      ["exec", "a", { cwd: "/w", timeoutSeconds: 180 }],
      ["exec", "b", { cwd: "/x", timeoutSeconds: 5, env: { A: "1" }, user: "root" }],
      ["exec", "c", { cwd: "/w", timeoutSeconds: null }],
    ]);
  });

  it("publishes the end of commands without their arguments", async () => {
    const told: unknown[] = [];
    const hear = (message: unknown) => told.push(message);
    subscribe("nemo-gym:sandbox-command", hear);
    onTestFinished(() => {
      unsubscribe("nemo-gym:sandbox-command", hear);
    });
    const provider = new RecordingProvider();
    const sandbox = await new Sandbox(provider, {}).start();
    await sandbox.exec("API_KEY=hidden /usr/bin/python3 main.py --password hidden");
    provider.exec = () => Promise.reject(new Error("gone"));
    await expect(sandbox.exec("'quoted program'")).rejects.toThrow("gone");
    const about = { sandbox: "recording s1", seconds: expect.any(Number) };
    expect(told).toEqual([
      { ...about, program: "/usr/bin/python3", ending: "exit 0" },
      { ...about, program: "(command)", ending: "error" },
    ]);
  });

  it("stops once and cannot be started again", async () => {
    const provider = new RecordingProvider();
    const sandbox = await new Sandbox(provider, {}).start();
    await expect(sandbox.start()).rejects.toThrow(/already started/);
    await Promise.all([sandbox.stop(), sandbox.stop()]);
    await sandbox.stop();
    expect(provider.log).toEqual(["create", "close", "aclose"]);
    await expect(sandbox.status()).resolves.toBe("stopped");
    await expect(sandbox.exec("true")).rejects.toMatchObject({ code: "SANDBOX_STATE" });
    await expect(sandbox.start()).rejects.toThrow(/was stopped/);
  });

  it("leaves nothing behind if the start fails", async () => {
    const provider = new RecordingProvider();
    provider.uploadFile = async () => {
      throw new Error("no room");
    };
    await expect(new Sandbox(provider, { files: { "/a": "1" } }).start()).rejects.toThrow("no room");
    expect(provider.log).toEqual(["create", "close", "aclose"]);
  });

  it("does not close a shared provider", async () => {
    const provider = new RecordingProvider();
    const sandbox = await new Sandbox(provider, {}, { ownsProvider: false }).start();
    await sandbox.stop();
    expect(provider.log).toEqual(["create", "close"]);
  });

  it("merges metadata: the spec overrides the block, which overrides the attribution", async () => {
    const provider = new RecordingProvider();
    const defaultMetadata = { team: "block", api: "x", kind: "block" };
    await new Sandbox(provider, { metadata: { kind: "spec" } }, { attribution, defaultMetadata }).start();
    expect(provider.spec?.metadata).toEqual({ team: "block", run: "r", api: "x", kind: "spec" });
  });

  it("reports operations that its provider does not support", async () => {
    const sandbox = await new Sandbox(new RecordingProvider(), { ports: [80] }).start();
    await expect(sandbox.endpoint(80)).rejects.toThrow("Sandboxes of 'recording' cannot expose ports.");
    await expect(sandbox.endpoint(81)).rejects.toThrow(/not among the ports/);
    await expect(sandbox.createPty()).rejects.toMatchObject({ code: "SANDBOX_UNSUPPORTED" });
    expect(() => sandbox.serialize()).toThrow(/another process/);
    await expect(Sandbox.connect(new RecordingProvider(), { sandbox_id: "s" })).rejects.toThrow(
      /another process/,
    );
  });

  it("requires a spec in the constructor or in start()", async () => {
    await expect(new Sandbox(new RecordingProvider()).start()).rejects.toThrow(/needs a sandbox spec/);
    await expect(new Sandbox(new RecordingProvider()).start({})).resolves.toBeInstanceOf(Sandbox);
  });
});
