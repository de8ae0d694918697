import { createHash, randomUUID } from "node:crypto";
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { appendDurably, replaceFile, withFileLock } from "../../base/files/door.ts";
import { parseTokenRecord, type TokenCaptureRecord, tokenRecordLine } from "./token-record.ts";
import type { TokenSink, TokenSnapshot, TokenSource } from "./token-sink.ts";

/** Files of one rollout in the directory of token records. */
function tokenFiles(directory: string, rolloutId: string) {
  return {
    records: join(directory, `${rolloutId}.tokens.jsonl`),
    state: join(directory, `${rolloutId}.tokens.state.json`),
    /** Ids of calls that were announced, one per line. */
    intents: join(directory, `${rolloutId}.tokens.intents`),
    /** Ids of calls whose tokens are lost, one per line. */
    incomplete: join(directory, `${rolloutId}.tokens.incomplete`),
    lock: join(directory, `${rolloutId}.tokens.lock`),
  };
}

type TokenFiles = ReturnType<typeof tokenFiles>;

/** Maximum size of the records of one rollout, which are read into memory together. */
const MAX_RECORDS_BYTES = 1024 ** 3;
const NEWLINE = 0x0a;
const UNKNOWN_CALL = "unknown";

/** Stores token records in files, one set of files per rollout. */
export class TokenFileStore implements TokenSink, TokenSource {
  readonly #directory: string;
  readonly #redact: (text: string) => string;

  constructor(directory: string, redact: (text: string) => string = (text) => text) {
    this.#directory = directory;
    this.#redact = redact;
  }

  beginCall(rolloutId: string, modelCallId: string): Promise<void> {
    return this.#locked(rolloutId, async (files) => {
      rejectClosed(rolloutId, await readTokenState(files.state));
      await appendDurably(files.intents, modelCallId);
    });
  }

  put(record: TokenCaptureRecord): Promise<void> {
    const line = this.#redact(tokenRecordLine(record));
    const digest = sha256(line);
    return this.#locked(record.rollout_id, async (files) => {
      const state = await readTokenState(files.state);
      rejectClosed(record.rollout_id, state);
      await indexRecords(files, state);
      const known = state.entry_digests[record.model_call_id];
      if (known === digest) return;
      if (known !== undefined) {
        await markState(files, state);
        throw new Error(`model call ${record.model_call_id} was recorded twice with different tokens`);
      }
      await appendDurably(files.records, line);
      state.entry_digests[record.model_call_id] = digest;
      state.indexed_size = await sizeOf(files.records);
      state.version++;
      await writeTokenState(files.state, state, { durable: false });
    });
  }

  markIncomplete(rolloutId: string, modelCallId: string): Promise<void> {
    return this.#locked(rolloutId, async (files) => {
      const state = await readTokenState(files.state);
      if (state.retired) return;
      await appendDurably(files.incomplete, modelCallId || UNKNOWN_CALL);
      await markState(files, state);
    });
  }

  freeze(rolloutId: string): Promise<TokenSnapshot> {
    return this.#locked(rolloutId, async (files) => {
      const state = await readTokenState(files.state);
      if (state.retired) throw new Error(`the token records of rollout ${rolloutId} were already used`);
      const { records, problem } = await readRecords(files.records);
      if (!state.frozen) {
        state.frozen = true;
        state.snapshot_id = randomUUID().replaceAll("-", "");
        state.version++;
        await writeTokenState(files.state, state);
      }
      const intents = await readIds(files.intents);
      const calls = callsInOrder(intents, records);
      const incomplete =
        state.incomplete ||
        problem !== undefined ||
        calls.includes(undefined) ||
        (await readIds(files.incomplete)).length > 0;
      const { snapshot_id: snapshotId, version } = state;
      return { records, calls, incomplete, problem, snapshotId, version };
    });
  }

  drop(
    rolloutId: string,
    { snapshotId, version }: Pick<TokenSnapshot, "snapshotId" | "version">,
  ): Promise<boolean> {
    return this.#locked(rolloutId, async (files) => {
      const state = await readTokenState(files.state);
      if (!state.frozen || state.snapshot_id !== snapshotId || state.version !== version) return false;
      // The state is kept, so that a late writer finds that the rollout is over.
      await writeTokenState(files.state, { ...state, retired: true, entry_digests: {}, indexed_size: 0 });
      await removeAll([files.records, files.incomplete, files.intents]);
      return true;
    });
  }

  clear(rolloutId: string): Promise<void> {
    return this.#locked(rolloutId, (files) =>
      removeAll([files.records, files.incomplete, files.intents, files.state]),
    );
  }

  #locked<T>(rolloutId: string, task: (files: TokenFiles) => Promise<T>): Promise<T> {
    const files = tokenFiles(this.#directory, rolloutId);
    return withFileLock(files.lock, () => task(files));
  }
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

function rejectClosed(rolloutId: string, state: TokenState): void {
  if (state.frozen || state.retired) throw new Error(`rollout ${rolloutId} is over`);
}

async function markState(files: TokenFiles, state: TokenState): Promise<void> {
  await writeTokenState(files.state, { ...state, incomplete: true, version: state.version + 1 });
}

/** Updates the index if a writer was killed between its record and its index. */
async function indexRecords(files: TokenFiles, state: TokenState): Promise<void> {
  const size = await sizeOf(files.records);
  if (size === state.indexed_size) return;
  const { digests } = await readRecords(files.records);
  state.entry_digests = digests;
  state.indexed_size = size;
}

/** Calls in the order of their start. Records without an intent come last. */
function callsInOrder(
  intents: readonly string[],
  records: readonly TokenCaptureRecord[],
): (TokenCaptureRecord | undefined)[] {
  const left = new Map(records.map((record) => [record.model_call_id, record]));
  const calls = intents.map((id) => {
    const record = left.get(id);
    left.delete(id);
    return record;
  });
  return [...calls, ...left.values()];
}

interface RecordsRead {
  records: TokenCaptureRecord[];
  digests: Record<string, string>;
  /** The problem of the first invalid line. */
  problem: string | undefined;
}

async function readRecords(path: string): Promise<RecordsRead> {
  const size = await sizeOf(path);
  if (size > MAX_RECORDS_BYTES)
    throw new Error(`'${path}' has ${size} bytes, more than ${MAX_RECORDS_BYTES}`);
  const read: RecordsRead = { records: [], digests: {}, problem: undefined };
  if (size === 0) return read;
  for (const text of linesOf(await readFile(path))) {
    try {
      addRecord(read, parseTokenRecord(text), sha256(text));
    } catch (error) {
      // A partial line of a killed writer, or an unknown version: the record is lost.
      read.problem ??= `a token record cannot be read: ${errorMessage(error)}`;
    }
  }
  return read;
}

function addRecord(read: RecordsRead, record: TokenCaptureRecord, digest: string): void {
  const { model_call_id: id } = record;
  const known = Object.hasOwn(read.digests, id) ? read.digests[id] : undefined;
  if (known === undefined) {
    read.digests[id] = digest;
    read.records.push(record);
  } else if (known !== digest) read.problem ??= `model call ${id} was recorded twice with different tokens`;
}

function* linesOf(bytes: Buffer): Generator<string> {
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, start);
    const end = found < 0 ? bytes.length : found;
    const text = bytes.toString("utf8", start, end);
    start = end + 1;
    if (text.trim() !== "") yield text;
  }
}

/** Settles like `work`, but resolves with `otherwise` if the file does not exist. */
async function ifExists<T>(work: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return otherwise;
    throw error;
  }
}

async function readIds(path: string): Promise<string[]> {
  const text = await ifExists(readFile(path, "utf8"), "");
  return text.split("\n").filter((line) => line !== "");
}

function sizeOf(path: string): Promise<number> {
  return ifExists(
    stat(path).then(({ size }) => size),
    0,
  );
}

async function removeAll(paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => rm(path, { force: true })));
}

const State = z.looseObject({
  frozen: z.boolean().default(false),
  retired: z.boolean().default(false),
  incomplete: z.boolean().default(false),
  snapshot_id: z.string().default(""),
  version: z.number().int().default(0),
  entry_digests: z.record(z.string(), z.string()).default({}),
  indexed_size: z.number().int().default(0),
});

/** `<id>.tokens.state.json`: the progress of the capture of a rollout. */
type TokenState = z.output<typeof State>;

/** The capture of a rollout without a state file has just started. */
async function readTokenState(path: string): Promise<TokenState> {
  return State.parse(JSON.parse(await ifExists(readFile(path, "utf8"), "{}")));
}

/** A state that can be rebuilt from the records need not be synced to disk. */
function writeTokenState(
  path: string,
  state: TokenState,
  options: { durable: boolean } = { durable: true },
): Promise<void> {
  const keys = Object.keys(state).sort();
  const ordered = Object.fromEntries(keys.map((key) => [key, state[key]]));
  return replaceFile(path, `${JSON.stringify(ordered)}\n`, options);
}
