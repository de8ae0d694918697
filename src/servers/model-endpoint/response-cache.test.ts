import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ResponseCache } from "./response-cache.ts";

let directory: string;
const problems: string[] = [];
const parts = { url: "https://h/v1/responses", headers: [], body: '{"input":"hi"}', repeat: "0" };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "gym-cache-"));
  problems.length = 0;
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const cache = (bytes = 1e9) => new ResponseCache(directory, bytes, (problem) => problems.push(problem));

it("stores answers by the whole request", async () => {
  const key = ResponseCache.key(parts);
  expect(await cache().find(key)).toBeUndefined();
  await cache().keep(key, parts, '{"id":"r"}');
  expect(await cache().find(key)).toMatchObject({ status: 200, text: '{"id":"r"}' });
  const others = [
    { url: "x" },
    { body: "{}" },
    { repeat: "1" },
    { headers: [["anthropic-beta", "b"] as const] },
  ].map((other) => ResponseCache.key({ ...parts, ...other }));
  expect(new Set([key, ...others]).size).toBe(5);
  expect(problems).toEqual([]);
});

it("treats a broken file as a miss and reports it", async () => {
  const key = ResponseCache.key(parts);
  await cache().keep(key, parts, "{}");
  const file = join(directory, key.slice(0, 2), `${key}.json`);
  await writeFile(file, (await readFile(file, "utf8")).slice(0, 20));
  expect(await cache().find(key)).toBeUndefined();
  expect(problems[0]).toContain("cannot be used");
});

it("stops growing at its limit", async () => {
  const made = cache(300);
  for (let index = 0; index < 5; index++) {
    const other = { ...parts, repeat: String(index) };
    await made.keep(ResponseCache.key(other), other, "x".repeat(100));
  }
  const files = await readdir(directory, { recursive: true });
  expect(files.filter((file) => file.endsWith(".json"))).toHaveLength(1);
  expect(problems).toHaveLength(1);
});

it("reports a folder that cannot be written to, at the start and later once", async () => {
  const file = join(directory, "file");
  await writeFile(file, "");
  const under = new ResponseCache(join(file, "cache"), 1e9, (problem) => problems.push(problem));
  await expect(under.open()).rejects.toMatchObject({ code: "PROVIDER_CACHE" });
  const keep = (repeat: string) => under.keep(ResponseCache.key({ ...parts, repeat }), parts, "{}");
  await Promise.all([keep("0"), keep("1"), keep("2")]);
  expect(problems).toHaveLength(1);
  await new ResponseCache(join(directory, "new", "cache"), 1e9, () => {}).open();
});
