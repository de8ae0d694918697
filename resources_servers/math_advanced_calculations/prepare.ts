/**
 * Writes a dataset of freshly drawn tasks.
 *
 * Usage: prepare.ts --out FILE [--count 100] [--seed 0] [--breadth 3] [--depth 3]
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { taskRow } from "./tasks.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string" },
    count: { type: "string", default: "100" },
    seed: { type: "string", default: "0" },
    breadth: { type: "string", default: "3" },
    depth: { type: "string", default: "3" },
  },
});
if (values.out === undefined) throw new Error("--out FILE is needed");

const options = { breadth: Number(values.breadth), depth: Number(values.depth) };
const rows = Array.from({ length: Number(values.count) }, (_, id) =>
  taskRow(id, Number(values.seed), options),
);
await writeFile(values.out, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
