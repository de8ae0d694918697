import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";

/** Reads `data/<name>.json.br`. The build copies the data next to the compiled code. */
export function readData(name: string): unknown {
  const compressed = readFileSync(new URL(`./data/${name}.json.br`, import.meta.url));
  return JSON.parse(brotliDecompressSync(compressed).toString("utf8"));
}
