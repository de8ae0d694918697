import { realpath } from "node:fs/promises";
import { z } from "zod";
import { isObject } from "../../base/python/json/door.ts";
import type { CollectionSnapshot } from "../../records/light-door.ts";
import { askCollection, findCollection } from "../../run/light-door.ts";
import type { LiveAnswer } from "../api-types.ts";
import { ViewerRequestError } from "../errors.ts";

const Command = z.discriminatedUnion("command", [
  z.object({ command: z.literal("pause") }),
  z.object({ command: z.literal("resume") }),
  z.object({ command: z.literal("cancel"), id: z.string().max(100) }),
  z.object({ command: z.literal("retry"), id: z.string().max(100) }),
  z.object({ command: z.literal("concurrency"), limit: z.number().int().min(1).nullable() }),
]);

/** The collection of this user that writes a rollouts file, as shown by `gym eval ctl show`. */
export async function liveOf(rollouts: string): Promise<LiveAnswer> {
  return { collection: (await collectionOf(rollouts))?.collection ?? null };
}

/** Pauses, resumes, cancels, retries or limits the collection that writes a rollouts file. */
export async function controlLive(rollouts: string, body: unknown): Promise<LiveAnswer> {
  const request = Command.safeParse(body);
  if (!request.success) throw new ViewerRequestError(400, rejectionOf(body));
  const found = await collectionOf(rollouts);
  if (found === undefined)
    throw new ViewerRequestError(409, "No collection of this user is writing this run.");
  const answer = await askCollection(found.socket, request.data);
  if (!answer.ok) throw new ViewerRequestError(409, answer.error);
  return { collection: answer };
}

function rejectionOf(body: unknown): string {
  if (isObject(body) && body["command"] === "concurrency")
    return `The concurrency must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}, or null for automatic.`;
  return "The command must be pause, resume, cancel, retry or concurrency.";
}

async function collectionOf(
  rollouts: string,
): Promise<{ socket: string; collection: CollectionSnapshot } | undefined> {
  const own = await realpath(rollouts).catch(() => rollouts);
  const found = await findCollection(
    async (answer) => answer.ok && (await realpath(answer.output).catch(() => answer.output)) === own,
  );
  return found?.answer.ok ? { socket: found.socket, collection: found.answer } : undefined;
}
