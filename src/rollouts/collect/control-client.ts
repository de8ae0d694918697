import { rmSync } from "node:fs";
import { connect } from "node:net";
import type { ProgressSnapshot } from "./collection-progress.ts";
import { type ControlRequest, controlSockets } from "./control-server.ts";

const ANSWER_LIMIT_MS = 5_000;

/** What a collection answers to a control request. */
export type ControlAnswer =
  | ({ ok: true; pid: number; output: string; paused: boolean } & ProgressSnapshot)
  | { ok: false; error: string };

export interface RunningCollection {
  socket: string;
  answer: ControlAnswer;
}

/** Returns the collections of this user that run on this machine. */
export async function runningCollections(): Promise<RunningCollection[]> {
  const found = await Promise.all(
    controlSockets().map(async (socket) => {
      try {
        return { socket, answer: await askCollection(socket, { command: "show" }) };
      } catch {
        // Left behind by a run that was killed.
        rmSync(socket, { force: true });
        return undefined;
      }
    }),
  );
  return found.filter((entry) => entry !== undefined);
}

/** Sends one request to the control socket of a collection. */
export function askCollection(socketPath: string, request: ControlRequest): Promise<ControlAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    let text = "";
    socket.setEncoding("utf8");
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy(new Error("no answer")));
    socket.on("connect", () => socket.write(`${JSON.stringify(request)}\n`));
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", reject);
    socket.on("end", () => {
      try {
        resolve(JSON.parse(text) as ControlAnswer);
      } catch (error) {
        reject(error);
      }
    });
  });
}
