import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { GymError } from "../../../base/errors.ts";
import { sleep, withDeadline } from "../../../base/transport/light-door.ts";
import { requestOnce } from "../../calls/server-http.ts";
import { pythonEnvironment } from "./install-dependencies.ts";
import { endBecause, exitText, isRayMessage, type ServerMessage, type StartMessage } from "./messages.ts";
import type { RayCluster } from "./ray-cluster.ts";

const FIRST_PROBE_MS = 50;
const LAST_PROBE_MS = 1_000;
const PROBE_TIMEOUT_MS = 5_000;
const READY_WITHIN_MS = 600_000;
/** Linux rejects a single environment string above 128 KiB. */
const MAX_CONFIG_BYTES = 120 * 1024;
const STOP_GRACE_MS = 1_000;

/** Runs an existing Python server like the original: same environment variables, same readiness probe. */
export async function runPython(message: StartMessage): Promise<() => Promise<void>> {
  const { instance, globalConfig } = message;
  const { directory, entry } = instance.code;
  const { installRoot } = message;
  const python = await pythonEnvironment(instance, { globalConfig, installRoot, log: console.log });
  const ray = await rayCluster(python, message);
  const config = withRay(message.configYaml, ray?.address);
  if (Buffer.byteLength(config) > MAX_CONFIG_BYTES) {
    throw new GymError(
      "SERVER_CONFIG",
      `Server '${instance.name}' is a Python server and gets the config in an environment variable, which is limited to 120 KiB. This config is larger. Split the run.`,
    );
  }
  const child = spawn(python, [entry], {
    cwd: directory,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      NEMO_GYM_CONFIG_DICT: config,
      NEMO_GYM_CONFIG_PATH: instance.name,
      // The last directory contains the servers around Python libraries that a project's app.py may start.
      PYTHONPATH: [directory, process.env["PYTHONPATH"], join(installRoot, "libraries", "python-bridges")]
        .filter(Boolean)
        .join(delimiter),
      PYTHONUNBUFFERED: "1",
      ...ray?.environment,
      ...(typeof globalConfig["uv_cache_dir"] === "string" && { UV_CACHE_DIR: globalConfig["uv_cache_dir"] }),
    },
  });
  let stopping = false;
  let exitCode = 1;
  const exited = new Promise<never>((_, reject) => {
    child.once("error", (error) =>
      reject(new GymError("SERVER_START", `${python} cannot be run: ${error.message}`)),
    );
    child.once("exit", (code, signal) => {
      exitCode = code || 1;
      reject(new GymError("SERVER_START", `${entry} ${exitText(code, signal)}`));
      if (!stopping) process.exitCode = exitCode;
    });
  });
  await Promise.race([answers(instance.host, instance.port), exited]);
  exited.catch((error: Error) => {
    if (stopping) return;
    endBecause(`has failed: ${error.message}`, exitCode);
  });
  return async () => {
    stopping = true;
    child.kill("SIGINT");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_GRACE_MS);
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    clearTimeout(timer);
  };
}

const RAY_KEY = "ray_head_node_address";
/** Prints the versions that must match in a Ray cluster; fails if Ray is not installed. */
const RAY_VERSIONS = "import sys, importlib.metadata as m; print(sys.version.split()[0], m.version('ray'))";

/**
 * The Ray cluster of the run; undefined if the config names one, if the server does not use Ray, or if no other Python
 * server could share it.
 */
async function rayCluster(
  python: string,
  { globalConfig, sharesRay }: StartMessage,
): Promise<RayCluster | undefined> {
  if (!sharesRay || globalConfig[RAY_KEY]) return undefined;
  const versions = await new Promise<string | undefined>((resolve) =>
    execFile(python, ["-c", RAY_VERSIONS], (error, stdout) => resolve(error ? undefined : stdout.trim())),
  );
  if (versions === undefined) return undefined;
  const answer = new Promise<RayCluster | undefined>((resolve) => {
    const listen = (message: unknown) => {
      if (!isRayMessage(message)) return;
      process.off("message", listen);
      resolve(message.cluster);
    };
    process.on("message", listen);
  });
  process.send?.({ type: "ray", versions, python } satisfies ServerMessage);
  return answer;
}

function withRay(config: string, address: string | undefined): string {
  if (address === undefined) return config;
  const others = config.replace(new RegExp(`^${RAY_KEY}:.*\n`, "m"), "");
  return `${others.trimEnd()}\n${RAY_KEY}: ${JSON.stringify(address)}\n`;
}

/** Any HTTP response counts as ready. */
async function answers(host: string, port: number): Promise<void> {
  const started = Date.now();
  for (
    let pause = FIRST_PROBE_MS;
    Date.now() - started < READY_WITHIN_MS;
    pause = Math.min(LAST_PROBE_MS, pause * 1.5)
  ) {
    try {
      await withDeadline(PROBE_TIMEOUT_MS, undefined, (signal) =>
        requestOnce(`http://${host}:${port}/`, { signal }),
      );
      return;
    } catch {
      await sleep(pause);
    }
  }
  throw new GymError(
    "SERVER_START",
    `nothing answered on ${host}:${port} within ${READY_WITHIN_MS / 1000} s`,
  );
}
