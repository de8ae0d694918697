import { setTimeout as delay } from "node:timers/promises";
import { errorMessage, GymError } from "../../base/errors.ts";
import { Deadline } from "../../base/transport/light-door.ts";
import { HeadServerError, headUrl, runningServers } from "../../run/head.ts";
import { requestOnce } from "../../servers/calls/door.ts";
import { type InstanceRecord, listeningProcess } from "../../servers/hosting/light-door.ts";
import type { CommandContext } from "../command.ts";

const HEALTH_TIMEOUT_MS = 2_000;
const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

type Health = "success" | "connection_error" | "timeout" | "unknown_error";

/** Runs `gym env status`. */
export async function showStatus(context: CommandContext): Promise<number> {
  const { out, err, signal, terminal } = context;
  const config = await context.resolve();
  const asJson = context.json || config.get("json") === true;
  let servers: InstanceRecord[] = [];
  try {
    servers = await runningServers(headUrl(config), signal);
  } catch (error) {
    // Without a head server, the list is empty. A head server that does not respond is an error.
    if (!(error instanceof HeadServerError) || error.trouble !== "absent") throw error;
    err(`Warning: ${error.message}`);
  }
  const checked = await Promise.all(
    servers.map(async (server) => ({ server, status: await healthOf(server.url, signal) })),
  );
  const now = Date.now() / 1000;
  if (asJson) {
    const rows = checked.map(({ server, status }) => ({
      ...server,
      config_path: null,
      dir_path: null,
      start_time: null,
      status,
      uptime_seconds: now - server.start_time,
    }));
    out(JSON.stringify(rows, null, 4));
    return 0;
  }
  if (checked.length === 0) {
    out("No NeMo Gym servers found running.");
    return 0;
  }
  out("\nNeMo Gym Server Status:\n");
  checked.forEach(({ server, status }, index) => {
    const mark = status === "success" ? terminal.green("✓") : terminal.red("✗");
    out(`[${index + 1}] ${mark} ${server.process_name} (${server.server_type}/${server.name})`);
    out("{");
    out(`    'server_type': '${server.server_type}',`);
    out(`    'name': '${server.name}',`);
    out(`    'port': ${server.port},`);
    out(`    'pid': ${server.pid},`);
    out(`    'uptime_seconds': '${uptime(now - server.start_time)}',`);
    out("}");
  });
  const healthy = checked.filter(({ status }) => status === "success").length;
  out(`\n${checked.length} servers found (${healthy} healthy, ${checked.length - healthy} unhealthy)`);
  return 0;
}

/** Any HTTP response counts as healthy. */
export async function healthOf(url: string, signal: AbortSignal): Promise<Health> {
  const deadline = new Deadline(HEALTH_TIMEOUT_MS, signal);
  try {
    await requestOnce(url, { signal: deadline.signal });
    return "success";
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.passed) return "timeout";
    const { code = "" } = error as { code?: string };
    return /ECONN|EHOST|CONNECTION_CLOSED/.test(code) ? "connection_error" : "unknown_error";
  } finally {
    deadline.clear();
  }
}

function uptime(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  return `${days}d ${hours}h ${minutes}m ${(seconds % 60).toFixed(1)}s`;
}

/** Runs `gym env stop`: ends the process of the head server, which stops its servers. */
export async function stopServers(context: CommandContext): Promise<number> {
  const { out, json, signal } = context;
  const url = headUrl(await context.resolve());
  const servers = await serversAt(url, signal);
  if (servers === undefined) {
    out(
      json
        ? JSON.stringify({ stopped: false, pid: null, servers: [] })
        : "No NeMo Gym servers found running.",
    );
    return 0;
  }
  // The process that holds the port, not the one that the response names: a response could name any process.
  const pid = listeningProcess(Number(new URL(url).port));
  if (pid === undefined)
    throw new GymError(
      "ENV_STOP",
      `The process that listens at ${url} cannot be found from here: it belongs to another user or another machine. Stop it with Ctrl-C where it was started.`,
    );
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    throw new GymError("ENV_STOP", `Process ${pid} at ${url} cannot be stopped: ${errorMessage(error)}.`);
  }
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  while (await answers(url, signal)) {
    if (performance.now() > deadline)
      throw new GymError(
        "ENV_STOP",
        `Process ${pid} is still running ${STOP_TIMEOUT_MS / 1000} s after SIGTERM.`,
      );
    await delay(POLL_MS, undefined, { signal });
  }
  const names = servers.map(({ process_name }) => process_name);
  out(
    json
      ? JSON.stringify({ stopped: true, pid, servers: names })
      : `Stopped process ${pid} with ${names.length} servers: ${names.join(", ")}`,
  );
  return 0;
}

/** A process that is ending may reset connections; only a refused connection means that it is gone. */
async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await serversAt(url, signal)) !== undefined;
  } catch (error) {
    if (error instanceof HeadServerError) return true;
    throw error;
  }
}

async function serversAt(url: string, signal: AbortSignal) {
  try {
    return await runningServers(url, signal);
  } catch (error) {
    if (error instanceof HeadServerError && error.trouble === "absent") return undefined;
    throw error;
  }
}
