import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Headers, header } from "./errors.ts";

/** The checksum that the server reports for the content. `git-blob` is the id of the file in git. */
export interface Checksum {
  algorithm: "sha256" | "git-blob";
  hex: string;
}

/** The checksum in the headers of an answer. */
export function checksumOfHeaders(headers: Headers): Checksum | undefined {
  const plain = header(headers, "x-checksum-sha256");
  if (plain !== undefined && /^[0-9a-f]{64}$/i.test(plain))
    return { algorithm: "sha256", hex: plain.toLowerCase() };
  const digest = header(headers, "repr-digest") ?? header(headers, "digest");
  const encoded = /sha-256=:?([A-Za-z0-9+/]{43}=)/i.exec(digest ?? "")?.[1];
  return encoded === undefined
    ? undefined
    : { algorithm: "sha256", hex: Buffer.from(encoded, "base64").toString("hex") };
}

/** On the Hugging Face hub, an entity tag is the address of the content: a sha256 for large files, otherwise the git id. */
export function checksumOfHubEtag(etag: string | undefined): Checksum | undefined {
  const value = etag?.replaceAll('"', "");
  if (value === undefined) return undefined;
  if (/^[0-9a-f]{64}$/.test(value)) return { algorithm: "sha256", hex: value };
  return /^[0-9a-f]{40}$/.test(value) ? { algorithm: "git-blob", hex: value } : undefined;
}

export async function checksumOfFile(
  file: string,
  algorithm: Checksum["algorithm"],
  signal?: AbortSignal,
): Promise<string> {
  const hash = createHash(algorithm === "sha256" ? "sha256" : "sha1");
  if (algorithm === "git-blob") hash.update(`blob ${(await stat(file)).size}\0`);
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash, { signal });
  return hash.digest("hex");
}
