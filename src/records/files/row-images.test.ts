import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { SharedStore, shareRun } from "../../run/distributed/run-directory.ts";
import { readRows } from "./jsonl-rows.ts";
import { LineAccess } from "./line-access.ts";
import { imagesOf, restoreImages, storeImages } from "./row-images.ts";

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), "row-images-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const uriOf = (content: Buffer, type = "png") => `data:image/${type};base64,${content.toString("base64")}`;
const large = randomBytes(6_000);

it("stores each image once and restores the line exactly", async () => {
  const path = join(folder(), "out.jsonl");
  const given = {
    content: [{ image_url: uriOf(large) }, { image_url: { url: uriOf(large) } }],
    output: [{ image_url: uriOf(randomBytes(5_000), "jpeg") }],
  };
  for (const line of [JSON.stringify(given), JSON.stringify(given).replaceAll('":', '": ')]) {
    const stored = await storeImages(path, line);
    expect(stored.length).toBeLessThan(500);
    expect(new Set(imagesOf(stored)).size).toBe(2);
    expect(restoreImages(path, stored)).toBe(line);
    expect(await storeImages(path, stored)).toBe(stored);
  }
  expect(
    readdirSync(join(path, "../rollout_images"))
      .map((name) => name.slice(64))
      .sort(),
  ).toEqual([".jpeg", ".png"]);
});

it("leaves small images, other types, other spellings and texts as they are", async () => {
  const path = join(folder(), "out.jsonl");
  const uri = uriOf(large);
  const reference = JSON.stringify({ image_url: `rollout_images/${"0".repeat(64)}.png` });
  for (const row of [
    { image_url: uriOf(randomBytes(3_000)) },
    { image_url: uriOf(large, "svg+xml") },
    { image_url: `${uri.slice(0, -1)}%3D` },
    { image_url: `${uri}\n` },
    { text: uri },
    { text: JSON.stringify({ image_url: uri }) },
    { text: reference },
    { arguments: JSON.stringify({ text: reference }) },
    { image_url: "rollout_images/../../secret.png" },
  ]) {
    const line = JSON.stringify(row);
    expect(await storeImages(path, line)).toBe(line);
    expect(restoreImages(path, line)).toBe(line);
  }
  expect(readdirSync(join(path, ".."))).toEqual([]);
});

it("rejects an image that is absent, changed or a link to another file", async () => {
  const directory = folder();
  const path = join(directory, "out.jsonl");
  const stored = await storeImages(path, JSON.stringify({ image_url: uriOf(large) }));
  const image = join(directory, "rollout_images", imagesOf(stored)[0] ?? "");
  rmSync(image);
  expect(() => restoreImages(path, stored)).toThrow(/out\.jsonl' cannot be read: .* does not exist/);
  writeFileSync(join(directory, "secret"), "secret");
  symlinkSync(join(directory, "secret"), image);
  expect(() => restoreImages(path, stored)).toThrow(/does not match its name/);
});

it("gives rows their images in order, alone and from a shared directory", async () => {
  const directory = folder();
  const path = join(directory, "inputs.jsonl");
  const lines = Array.from({ length: 3 }, (_, number) =>
    JSON.stringify({ number, image_url: uriOf(randomBytes(9_000)) }),
  );
  const stored = await storeImages(path, `${lines.join("\n")}\n`);
  writeFileSync(path, stored);
  const offsets: number[] = [];
  for await (const { row, line } of readRows(path, { chunkBytes: 100 })) {
    expect(line.text).toBe(lines[Number(row["number"])]);
    offsets.push(line.offset);
  }
  for await (const { line } of readRows(path, { keepReferences: true }))
    expect(imagesOf(line.text)).toHaveLength(1);
  const file = new LineAccess(path);
  onTestFinished(() => file.close());
  expect(offsets.map((offset) => file.lineAt(offset))).toEqual(lines);
  const shared = folder();
  await shareRun(shared, { config: "{}", inputs: path });
  const store = await SharedStore.open(shared, "worker");
  onTestFinished(() => store.close());
  expect(await store.row(["run", 2, 0, offsets[2] ?? 0] as never)).toBe(lines[2]);
});
