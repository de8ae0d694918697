import path from "node:path";
import { GymError } from "../../base/errors.ts";
import {
  askCollection,
  type ControlRequest,
  type RunningCollection,
  runningCollections,
} from "../../run/light-door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { progressLines, progressText } from "./progress-lines.ts";

/** The arguments of `gym eval ctl`. */
export interface ControlArguments {
  readonly action: string;
  readonly value: string | undefined;
  readonly pid: string | undefined;
  readonly run: string | undefined;
  readonly worker: string | undefined;
}

/** Runs `gym eval ctl`. */
export async function controlRun(
  { out, json, terminal }: CommandContext,
  { action, value, pid, worker }: ControlArguments,
): Promise<number> {
  if (action === "drain" || worker !== undefined)
    throw new UsageError("workers belong to distributed runs: add --queue with the address of the broker");
  const found = await runningCollections();
  if (action === "list") {
    const running = pid === undefined ? found : [choose(found, pid)];
    if (json) out(JSON.stringify(running.map(({ answer }) => answer)));
    else if (running.length === 0) out("No collections are running.");
    for (const { socket, answer } of json ? [] : running) {
      if (answer.ok)
        out(
          `${nameOf(socket)}${answer.paused ? " (paused)" : ""} ${answer.output}\n  ${progressText(answer)}`,
        );
    }
    return 0;
  }
  const { socket } = choose(found, pid);
  const answer = await askCollection(socket, requestOf(action, value));
  if (json) out(JSON.stringify(answer));
  else if (answer.ok) {
    out(`${answer.pid}${answer.paused ? " (paused)" : ""} ${answer.output}`);
    for (const line of progressLines(answer, terminal.width, terminal)) out(line);
  }
  if (!answer.ok) throw new GymError("EVAL_CTL", answer.error);
  return 0;
}

/** The request for an action and its value. */
export function requestOf(action: string, value: string | undefined): ControlRequest {
  switch (action) {
    case "cancel":
    case "retry":
      if (value === undefined)
        throw new UsageError(`${action} needs the id of a rollout, as \`gym eval ctl show\` lists them`);
      return { command: action, id: value };
    case "concurrency": {
      const limit = value === "auto" ? null : Number(value);
      if (limit !== null && !(Number.isInteger(limit) && limit > 0)) {
        throw new UsageError("concurrency needs a whole number above 0, or auto");
      }
      return { command: "concurrency", limit };
    }
    default:
      return { command: action as "show" | "pause" | "resume" };
  }
}

function choose(running: RunningCollection[], pid: string | undefined): RunningCollection {
  const matching = pid === undefined ? running : running.filter(({ socket }) => nameOf(socket) === pid);
  const [only] = matching;
  if (only && matching.length === 1) return only;
  const known = running.map(({ socket }) => nameOf(socket)).join(", ") || "none";
  if (matching.length === 0)
    throw new GymError("EVAL_CTL", `No such run is in progress. In progress: ${known}.`);
  throw new GymError("EVAL_CTL", `Several runs are in progress; choose one with --pid: ${known}.`);
}

/** The process id; a further collection of the process has a number behind it. */
function nameOf(socket: string): string {
  return path.basename(socket, ".sock");
}
