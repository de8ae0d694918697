import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runServers, type ServersEvent } from "./run-servers.ts";

let directory: string;

/** A directory for sockets that other users may enter, as when one of them has made it. */
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-servers-"));
  await mkdir(path.join(directory, `nemo-gym-${process.getuid?.()}`), { mode: 0o755 });
  vi.stubEnv("XDG_RUNTIME_DIR", directory);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

/** Starts a server whose code does not exist; returns the error and the log. */
async function start(globalConfig: Record<string, unknown>, config: Record<string, unknown> = {}) {
  const log: string[] = [];
  const logged = new AbortController();
  const instance = {
    name: "policy_model",
    type: "responses_api_models" as const,
    implementation: "absent",
    host: "127.0.0.1",
    port: 1,
    code: {
      directory,
      entry: path.join(directory, "app.ts"),
      language: "node" as const,
      hasOwnDependencies: false,
    },
    config: { hosting: "process", ...config },
  };
  const error = await runServers({
    instances: [instance],
    globalConfig,
    configYaml: "",
    publicConfigYaml: "",
    roots: [directory],
    installRoot: directory,
    signal: logged.signal,
    onEvent: (event: ServersEvent) => {
      if (event.type !== "log") return;
      log.push(event.line);
      logged.abort();
    },
  }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { error, log };
}

it("refuses to start processes that cannot share their budget", async () => {
  expect((await start({ max_cost: 5 })).error).toMatchObject({ code: "PRIVATE_DIRECTORY" });
  expect((await start({}, { max_cost: 5 })).error).toMatchObject({ code: "PRIVATE_DIRECTORY" });
});

it("starts processes without a budget, which then call each other over HTTP", async () => {
  const { error, log } = await start({});
  expect(error).not.toMatchObject({ code: "PRIVATE_DIRECTORY" });
  expect(log).toContainEqual(expect.stringContaining("over HTTP"));
});
