import { rmSync } from "node:fs";
import { connect } from "node:net";
import { type ControlAnswer, type ControlRequest, controlSockets } from "./control-server.ts";

const ANSWER_LIMIT_MS = 5_000;

export interface RunningCollection {
  socket: string;
  answer: ControlAnswer;
}

/** Returns the running collections of this user on this machine. */
export async function runningCollections(): Promise<RunningCollection[]> {
  const found = await Promise.all(controlSockets().map(showCollection));
  return found.filter((entry) => entry !== undefined);
}

/** Returns the requested collection as soon as it answers, without waiting for others, which may be too busy. */
export function findCollection(
  isWanted: (answer: ControlAnswer) => Promise<boolean>,
): Promise<RunningCollection | undefined> {
  return new Promise((resolve, reject) => {
    const searches = controlSockets().map(async (socket) => {
      const found = await showCollection(socket);
      if (found && (await isWanted(found.answer))) resolve(found);
    });
    Promise.all(searches).then(() => resolve(undefined), reject);
  });
}

async function showCollection(socket: string): Promise<RunningCollection | undefined> {
  try {
    return { socket, answer: await askCollection(socket, { command: "show" }) };
  } catch (error) {
    // A killed run left its socket behind. A busy run still accepts connections.
    if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") rmSync(socket, { force: true });
    return undefined;
  }
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
