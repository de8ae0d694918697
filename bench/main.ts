import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { renderTable } from "../src/cli/render/table.ts";
import { createTerminal } from "../src/cli/render/terminal.ts";
import { Report } from "./report.ts";

/** A file `bench/<name>.bench.ts`. */
interface Bench {
  readonly name: string;
  /** `directory` is empty and is removed afterwards. */
  run(report: Report, directory: string): Promise<void>;
}

const here = new URL(".", import.meta.url);
const files = (await readdir(here)).filter((file) => /\.bench\.[jt]s$/.test(file)).sort();
const benches = await Promise.all(
  files.map(async (file) => (await import(new URL(file, here).href)) as Bench),
);
const wanted = process.argv.slice(2);
/** `environments` also means `environments-a` and the others. */
const isNamed = (bench: Bench, name: string) => bench.name === name || bench.name.startsWith(`${name}-`);
const unknown = wanted.filter((name) => !benches.some((bench) => isNamed(bench, name)));
if (unknown.length > 0) {
  const names = benches.map(({ name }) => name).join(", ");
  console.error(`No bench called ${unknown.join(", ")}. There are: ${names}.`);
  process.exit(2);
}

const terminal = createTerminal(process.stdout, process.env);
let kept = true;
for (const bench of benches.filter(
  (bench) => wanted.length === 0 || wanted.some((name) => isNamed(bench, name)),
)) {
  const report = new Report();
  const directory = await mkdtemp(path.join(tmpdir(), `gym-bench-${bench.name}-`));
  try {
    await bench.run(report, directory);
  } finally {
    await rm(directory, { recursive: true });
  }
  const first = report.measurements[0]?.cpuMs ?? 0;
  const rows = report.measurements.map(({ label, cpuMs, operations }) => [
    label,
    cpuMs.toFixed(cpuMs < 10 ? 3 : 1),
    first > 0 ? `${(cpuMs / first).toFixed(2)}x` : "",
    String(operations),
  ]);
  const columns = ["Operation", "CPU ms", "Ratio", "Runs"];
  console.log(renderTable({ title: bench.name, columns, rows }, terminal));
  for (const { text, ok } of report.checks) {
    console.log(`${ok ? terminal.green("✓") : terminal.red("✗")} ${text}`);
    kept &&= ok;
  }
  console.log("");
}
process.exitCode = kept ? 0 : 1;
