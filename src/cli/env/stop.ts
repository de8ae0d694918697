import { setTimeout as delay } from "node:timers/promises";
import { errorMessage, GymError } from "../../errors.ts";
import { listeningProcess } from "../../hosting/processes/ports.ts";
import { HeadServerError, headUrl, runningServers } from "../../run/head.ts";
import type { CommandContext } from "../command.ts";

const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

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
      throw new GymError("ENV_STOP", `Process ${pid} still runs ${STOP_TIMEOUT_MS / 1000} s after SIGTERM.`);
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
