import { rm } from "node:fs/promises";
import { join } from "node:path";

/** Files of one rollout in the directory of model calls. */
export function modelCallFiles(directory: string, rolloutId: string) {
  return {
    records: join(directory, `${rolloutId}.capture.jsonl`),
    /** Empty; there when a record could not be written. */
    incomplete: join(directory, `${rolloutId}.capture.incomplete`),
  };
}

/** Files of one rollout in the directory of token records. */
export function tokenFiles(directory: string, rolloutId: string) {
  return {
    records: join(directory, `${rolloutId}.tokens.jsonl`),
    state: join(directory, `${rolloutId}.tokens.state.json`),
    /** Ids of calls that were about to be made, one a line. */
    intents: join(directory, `${rolloutId}.tokens.intents`),
    /** Ids of calls whose tokens were lost, one a line. */
    incomplete: join(directory, `${rolloutId}.tokens.incomplete`),
    lock: join(directory, `${rolloutId}.tokens.lock`),
  };
}

export type TokenFiles = ReturnType<typeof tokenFiles>;

/** Removes the model calls an earlier run recorded under this id. */
export async function clearModelCalls(directory: string, rolloutId: string): Promise<void> {
  const { records, incomplete } = modelCallFiles(directory, rolloutId);
  await Promise.all([rm(records, { force: true }), rm(incomplete, { force: true })]);
}
