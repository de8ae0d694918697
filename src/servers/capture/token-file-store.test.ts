import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { TokenFileStore } from "./token-file-store.ts";
import type { TokenCaptureRecord } from "./token-record.ts";

let directory: string;
let store: TokenFileStore;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nemo-gym-tokens-"));
  store = new TokenFileStore(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const record = (id: string, prompt: number[] = [1], generated: number[] = [2]): TokenCaptureRecord => ({
  schema_version: 1,
  rollout_id: "0-0",
  model_call_id: id,
  model: "m",
  prompt_token_ids: prompt,
  generation_token_ids: generated,
  generation_log_probs: generated.map(() => -0.5),
  routed_experts: null,
  output_items: [{ type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content: [] }],
  token_item_index: 0,
  created_at: 1,
});

const file = (name: string) => join(directory, `0-0.tokens.${name}`);
const state = () => JSON.parse(readFileSync(file("state.json"), "utf8")) as Record<string, unknown>;

async function call(id: string, own = record(id)): Promise<void> {
  await store.beginCall("0-0", id);
  await store.put(own);
}

it("writes one line of sorted keys per call and keeps an index", async () => {
  await call("b");
  await call("a");
  const lines = readFileSync(file("jsonl"), "utf8").trimEnd().split("\n");
  expect(lines).toHaveLength(2);
  const keys = Object.keys(JSON.parse(lines[0] ?? "") as object);
  expect(keys).toEqual([...keys].sort());
  expect(readFileSync(file("intents"), "utf8")).toBe("b\na\n");
  expect(Object.keys(state())).toEqual([
    "entry_digests",
    "frozen",
    "incomplete",
    "indexed_size",
    "retired",
    "snapshot_id",
    "version",
  ]);
  expect(state()).toMatchObject({ frozen: false, incomplete: false, version: 2 });
  expect(existsSync(file("lock"))).toBe(false);
});

it("accepts the same record twice and rejects a different one with the same id", async () => {
  await call("a");
  await store.put(record("a"));
  expect(readFileSync(file("jsonl"), "utf8").trimEnd().split("\n")).toHaveLength(1);
  await expect(store.put(record("a", [1], [3]))).rejects.toThrow("recorded twice");
  expect((await store.freeze("0-0")).incomplete).toBe(true);
});

it("rebuilds its index after a writer was killed", async () => {
  await call("a");
  rmSync(file("state.json"));
  await store.put(record("a"));
  expect(readFileSync(file("jsonl"), "utf8").trimEnd().split("\n")).toHaveLength(1);
  await expect(store.put(record("a", [9]))).rejects.toThrow("recorded twice");
});

it("freezes a complete rollout and rejects late records", async () => {
  await call("a");
  const snapshot = await store.freeze("0-0");
  expect(snapshot).toMatchObject({ incomplete: false, records: [{ model_call_id: "a" }] });
  expect(await store.freeze("0-0")).toEqual(snapshot);
  await expect(store.put(record("late"))).rejects.toThrow("is over");
  await expect(store.beginCall("0-0", "late")).rejects.toThrow("is over");
});

it("is incomplete when a call was announced and never recorded", async () => {
  await call("a");
  await store.beginCall("0-0", "lost");
  await call("c");
  const { incomplete, calls } = await store.freeze("0-0");
  expect(incomplete).toBe(true);
  expect(calls.map((own) => own?.model_call_id)).toEqual(["a", undefined, "c"]);
});

it("is incomplete when it was marked, even if only the mark was written", async () => {
  await call("a");
  await store.markIncomplete("0-0", "x");
  expect(state()).toMatchObject({ incomplete: true });
  expect((await store.freeze("0-0")).incomplete).toBe(true);
  rmSync(file("state.json"));
  expect((await store.freeze("0-0")).incomplete).toBe(true);
});

it("is incomplete when a line is partial or of a newer version", async () => {
  await call("a");
  appendFileSync(file("jsonl"), '{"half":');
  expect(await store.freeze("0-0")).toMatchObject({ incomplete: true, records: [{ model_call_id: "a" }] });
  await store.clear("0-0");
  writeFileSync(file("jsonl"), `${JSON.stringify({ ...record("a"), schema_version: 2 })}\n`);
  const snapshot = await store.freeze("0-0");
  expect(snapshot).toMatchObject({ incomplete: true, records: [] });
  expect(snapshot.problem).toContain("newer version");
});

it("deletes exactly the snapshot that was used", async () => {
  await call("a");
  const snapshot = await store.freeze("0-0");
  expect(await store.drop("0-0", { ...snapshot, version: 99 })).toBe(false);
  await store.markIncomplete("0-0", "late");
  expect(await store.drop("0-0", snapshot)).toBe(false);
  const again = await store.freeze("0-0");
  expect(await store.drop("0-0", again)).toBe(true);
  expect(readdirSync(directory)).toEqual(["0-0.tokens.state.json"]);
  await expect(store.put(record("late"))).rejects.toThrow("is over");
  await expect(store.freeze("0-0")).rejects.toThrow("already used");
  await store.clear("0-0");
  await call("b");
  expect((await store.freeze("0-0")).records).toHaveLength(1);
});

it("handles concurrent writers", async () => {
  const other = new TokenFileStore(directory);
  const ids = Array.from({ length: 20 }, (_, index) => `call-${index}`);
  await Promise.all(ids.map((id, index) => (index % 2 ? store : other).put(record(id))));
  const { records } = await store.freeze("0-0");
  expect(new Set(records.map((own) => own.model_call_id))).toEqual(new Set(ids));
});

it("takes over the lock of a dead process", async () => {
  const { hostname } = await import("node:os");
  writeFileSync(file("lock"), JSON.stringify({ pid: 2 ** 22 + 1, host: hostname() }));
  await call("a");
  expect((await store.freeze("0-0")).records).toHaveLength(1);
});

it("continues when a Python writer left its lock file", async () => {
  writeFileSync(file("lock"), "");
  const before = new Date(Date.now() - 5_000);
  utimesSync(file("lock"), before, before);
  await store.put(record("c1"));
  expect((await store.freeze("0-0")).records).toHaveLength(1);
});

it.each([
  [
    "token ids without their probabilities",
    { generation_log_probs: [] },
    "1 token ids but 0 log-probabilities",
  ],
  ["a carrier that is not there", { token_item_index: 3 }, "item 3, which does not exist"],
  ["a later version", { schema_version: 2 }, "newer version"],
])("rejects %s", async (_, wrong, problem) => {
  appendFileSync(file("jsonl"), `${JSON.stringify({ ...record("c1"), ...wrong })}\n`);
  const snapshot = await store.freeze("0-0");
  expect(snapshot).toMatchObject({ records: [], incomplete: true });
  expect(snapshot.problem).toContain(problem);
});

it("reads records without optional fields", async () => {
  const { schema_version: _, created_at: __, ...early } = record("c1");
  appendFileSync(file("jsonl"), `${JSON.stringify(early)}\n`);
  expect(await store.freeze("0-0")).toMatchObject({
    incomplete: false,
    records: [{ schema_version: 1, created_at: 0 }],
  });
});
