import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defineModel, defineResourcesServer } from "../index.ts";
import { startServers } from "./index.ts";

const model = defineModel({ responses: () => Promise.reject(new Error("not called")) });

/** An environment that starts when the test allows it, and the events of its life. */
function slowEnvironment() {
  const events: string[] = [];
  let begin = () => {};
  let finishStart = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    finishStart = resolve;
  });
  const environment = defineResourcesServer({
    start: async () => {
      begin();
      await gate;
      events.push("started");
      return "state";
    },
    stop: (_, state) => {
      events.push(`stopped with ${state}`);
    },
    verify: () => ({ reward: 0 }),
  });
  return { environment, events, begun, finishStart };
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

describe("an aborted start", () => {
  it("rejects after it has closed the servers that were starting", async () => {
    const { environment, events, begun, finishStart } = slowEnvironment();
    const controller = new AbortController();
    const started = startServers({ environment, model }, { head: false, signal: controller.signal });
    const rejected = started.catch((error: unknown) => events.push(String(error)));
    await begun;
    controller.abort("enough");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(events).toEqual([]);
    finishStart();
    await rejected;
    expect(events).toEqual(["started", "stopped with state", "enough"]);
  });

  it("does not wait forever for a start that hangs, and closes it when it ends", async () => {
    const { environment, events, begun, finishStart } = slowEnvironment();
    const controller = new AbortController();
    const started = startServers({ environment, model }, { head: false, signal: controller.signal });
    const rejected = expect(started).rejects.toBe("enough");
    await begun;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    controller.abort("enough");
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    await rejected;
    finishStart();
    await vi.waitFor(() => expect(events).toEqual(["started", "stopped with state"]));
  });
});

it("closes a server that was starting when another one fails to start", async () => {
  const { environment, events, begun, finishStart } = slowEnvironment();
  const failing = defineModel({
    start: async () => {
      await begun;
      throw new Error("no weights");
    },
    responses: () => Promise.reject(new Error("not called")),
  });
  const started = startServers({ environment, model: failing }, { head: false });
  const rejected = expect(started).rejects.toThrow("no weights");
  await begun;
  setTimeout(finishStart, 50);
  await rejected;
  expect(events).toEqual(["started", "stopped with state"]);
});

describe("a server with its own packages", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), "gym-start-"));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it("is not started when another server fails during the installation", async () => {
    const server = path.join(directory, "resources_servers", "packaged");
    const npm = path.join(directory, "bin", "npm");
    const log = path.join(directory, "npm.log");
    await mkdir(server, { recursive: true });
    await mkdir(path.dirname(npm));
    await writeFile(path.join(server, "app.ts"), "");
    await writeFile(path.join(server, "package.json"), '{ "dependencies": { "absent": "1" } }');
    // Ends a moment after it was asked to, and then reports success.
    await writeFile(
      npm,
      `#!/bin/bash\ntrap 'sleep 0.3; mkdir node_modules; echo ended >> ${log}; exit 0' TERM\n` +
        `echo begun >> ${log}\nfor _ in {1..200}; do sleep 0.05; done\n`,
    );
    await chmod(npm, 0o755);
    vi.stubEnv("PATH", `${path.dirname(npm)}${path.delimiter}${process.env["PATH"]}`);
    const npmLog = () => readFile(log, "utf8").catch(() => "");
    const failing = defineModel({
      start: async () => {
        await vi.waitFor(async () => expect(await npmLog()).toBe("begun\n"), { timeout: 10_000 });
        throw new Error("no weights");
      },
      responses: () => Promise.reject(new Error("not called")),
    });
    const values = {
      packaged: { resources_servers: { packaged: { entrypoint: "app.ts", domain: "other" } } },
    };
    const started = startServers({ values, model: failing }, { head: false, roots: [directory] });
    await expect(started).rejects.toThrow("no weights");
    expect(await npmLog()).toBe("begun\nended\n");
  });
});
