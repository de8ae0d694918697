import { realpath } from "node:fs/promises";
import { z } from "zod";
import {
  askCollection,
  type ControlAnswer,
  type RunningCollection,
  runningCollections,
} from "../../rollouts/collect/control-client.ts";
import type { LiveAnswer } from "../api-types.ts";
import { ViewerRequestError } from "../errors.ts";

const Command = z.discriminatedUnion("command", [
  z.object({ command: z.literal("pause") }),
  z.object({ command: z.literal("resume") }),
  z.object({ command: z.literal("cancel"), id: z.string().max(100) }),
  z.object({ command: z.literal("retry"), id: z.string().max(100) }),
  z.object({ command: z.literal("concurrency"), limit: z.number().int().min(1).nullable() }),
]);

/** The collection of this user that writes a rollouts file, as `gym eval ctl show` tells it. */
export async function liveOf(rollouts: string): Promise<LiveAnswer> {
  const found = await collectionOf(rollouts);
  return { collection: found ? shown(found.answer) : null };
}

/** Pauses, resumes, cancels, retries or limits the collection that writes a rollouts file. */
export async function controlLive(rollouts: string, body: unknown): Promise<LiveAnswer> {
  const request = Command.safeParse(body);
  if (!request.success)
    throw new ViewerRequestError(400, "The command must be pause, resume, cancel, retry or concurrency.");
  const found = await collectionOf(rollouts);
  if (found === undefined) throw new ViewerRequestError(409, "No collection of this user writes this run.");
  const answer = await askCollection(found.socket, request.data);
  if (!answer.ok) throw new ViewerRequestError(409, answer.error);
  return { collection: shown(answer) };
}

async function collectionOf(rollouts: string): Promise<RunningCollection | undefined> {
  const own = await realpath(rollouts).catch(() => rollouts);
  for (const found of await runningCollections()) {
    if (!found.answer.ok) continue;
    const { output } = found.answer;
    if (output === rollouts || (await realpath(output).catch(() => output)) === own) return found;
  }
  return undefined;
}

function shown(answer: ControlAnswer): LiveAnswer["collection"] {
  // The socket's answer has all these fields; its type names those of the snapshot only.
  return answer.ok ? (answer as unknown as LiveAnswer["collection"]) : null;
}
