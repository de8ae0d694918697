/**
 * Writes a dataset of newly generated tasks, alternating between the kinds.
 *
 * Usage: prepare.ts --out FILE [--tasks gcd,jugs,...] [--count 100] [--seed 0] [--level 1|2|3]
 */

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { parseArgs } from "node:util";
import type { Level } from "./generators/generator.ts";
import { generators } from "./generators/index.ts";
import { makeRow } from "./generators/make-row.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string" },
    tasks: { type: "string" },
    count: { type: "string", default: "100" },
    seed: { type: "string", default: "0" },
    level: { type: "string", default: "1" },
  },
});

function readLevel(text: string): Level {
  const level = Number(text);
  if (level === 1 || level === 2 || level === 3) return level;
  throw new Error(`--level is 1, 2 or 3, not ${text}`);
}

if (values.out === undefined) throw new Error("--out FILE is needed");
const level = readLevel(values.level);
const names = values.tasks?.split(",") ?? [...generators.keys()];
const chosen = names.map((name) => {
  const generator = generators.get(name);
  if (generator === undefined)
    throw new Error(`There is no generator '${name}'. Generators: ${[...generators.keys()].join(", ")}.`);
  return generator;
});

const file = createWriteStream(values.out);
for (let index = 0; index < Number(values.count); index++) {
  const generator = chosen[index % chosen.length];
  if (generator === undefined) break;
  const row = makeRow(generator, Number(values.seed), Math.floor(index / chosen.length), level);
  if (!file.write(`${JSON.stringify(row)}\n`)) await once(file, "drain");
}
file.end();
await finished(file);
