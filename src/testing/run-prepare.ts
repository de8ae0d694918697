import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createPrepareContext, type PrepareContext } from "../data/door.ts";

export interface RunPrepareOptions<Args> {
  /** The path of the script, or `import.meta.url` of a test beside it. The folder must have the files of the script. */
  script: string | URL;
  /** The folder for `rows.jsonl`. */
  outputDirectory: string;
  args?: Args;
}

export interface PreparedRows {
  /** The path that the script returned. */
  file: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into rows whose shape they are about to assert
  rows: any[];
  /** The log lines of the script. */
  said: string[];
}

/**
 * Runs the `prepare` function of a benchmark and reads the rows that it wrote.
 *
 * @example
 * const { rows } = await runPrepare(prepare, { script: import.meta.url, outputDirectory, args: { source: "test.jsonl" } });
 */
export async function runPrepare<Args extends object>(
  prepare: (args: Args, context: PrepareContext) => Promise<string>,
  { script, outputDirectory, args }: RunPrepareOptions<Args>,
): Promise<PreparedRows> {
  const said: string[] = [];
  const scriptFile = script instanceof URL || script.startsWith("file:") ? fileURLToPath(script) : script;
  const context = createPrepareContext({
    script: scriptFile,
    benchmark: path.basename(path.dirname(scriptFile)),
    outputPath: path.join(outputDirectory, "rows.jsonl"),
    cwd: outputDirectory,
    roots: [],
    env: process.env,
    python: "python3",
    hub: {},
    signal: new AbortController().signal,
    log: (line) => said.push(line),
  });
  const file = await prepare(args ?? ({} as Args), context);
  const text = await readFile(file, "utf8");
  const rows = text.split("\n").filter((line) => line !== "");
  return { file, rows: rows.map((line) => JSON.parse(line)), said };
}
