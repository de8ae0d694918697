import { Deadline } from "../../calls/deadline.ts";
import { requestOnce } from "../../calls/server-http.ts";
import type { InstanceRecord } from "../../hosting/processes/head-server.ts";
import { HeadServerError, headUrl, runningServers } from "../../run/head.ts";
import type { CommandContext } from "../command.ts";

const HEALTH_TIMEOUT_MS = 2_000;

type Health = "success" | "connection_error" | "timeout" | "unknown_error";

/** Runs `gym env status`. */
export async function showStatus(context: CommandContext): Promise<number> {
  const { out, err, signal, terminal } = context;
  const config = await context.resolve();
  const asJson = Boolean(context.flags["json"]) || config.get("json") === true;
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
