import { readFile } from "node:fs/promises";
import { z } from "zod";
import { replaceFile } from "../files/durable-file.ts";

const State = z.looseObject({
  frozen: z.boolean().default(false),
  retired: z.boolean().default(false),
  incomplete: z.boolean().default(false),
  snapshot_id: z.string().default(""),
  version: z.number().int().default(0),
  entry_digests: z.record(z.string(), z.string()).default({}),
  indexed_size: z.number().int().default(0),
});

/** `<id>.tokens.state.json`: how far the capture of a rollout has come. */
export type TokenState = z.output<typeof State>;

/** A rollout without a state file has just begun. */
export async function readTokenState(path: string): Promise<TokenState> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return State.parse({});
    throw error;
  }
  return State.parse(JSON.parse(text));
}

/** What can be rebuilt from the records need not be synced to disk. */
export function writeTokenState(
  path: string,
  state: TokenState,
  options: { durable: boolean } = { durable: true },
): Promise<void> {
  const keys = Object.keys(state).sort();
  const ordered = Object.fromEntries(keys.map((key) => [key, state[key]]));
  return replaceFile(path, `${JSON.stringify(ordered)}\n`, options);
}
