import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { errorMessage } from "../../src/base/errors.ts";
import { loadsPlain } from "../../src/base/python/json/json-loads.ts";
import { type CollateMode, type CollateResult, collate } from "../../src/data/collate.ts";
import { agentsOf } from "../../src/data/entry.ts";
import { inDirectory, writeFiles } from "./case-directory.ts";
import type { Suite } from "./suite.ts";

interface CollateCase {
  id: string;
  input: {
    mode: CollateMode;
    output_dirpath: string;
    agents: { name: string; datasets?: unknown[] }[];
    files: Record<string, string>;
    overwrite_metrics_conflicts?: boolean;
  };
  expected: {
    error?: { kind: string };
    offending_row_indices: Record<string, number[]> | null;
    new_or_changed_files: Record<string, string>;
  };
}

/** Collates the files of each case in a separate directory and compares every file. */
export const suite: Suite = async (file) => {
  const { cases } = JSON.parse(await readFile(file, "utf8")) as { cases: CollateCase[] };
  return cases.map((golden) => ({
    id: golden.id,
    run: async () => (await inDirectory((directory) => runCase(golden, directory))).join("; ") || undefined,
  }));
};

async function runCase({ input, expected }: CollateCase, directory: string): Promise<string[]> {
  await writeFiles(directory, input.files);
  let result: CollateResult | undefined;
  let failure: string | undefined;
  const offending: Record<string, number[]> = {};
  try {
    result = await collate({
      mode: input.mode,
      outputDirectory: input.output_dirpath,
      agents: agentsOf(input.agents).agents,
      cwd: directory,
      roots: [directory],
      overwriteMetricsConflicts: input.overwrite_metrics_conflicts,
      failLate: true,
      onEvent: (event) => {
        if (event.event !== "rows-checked") return;
        offending[event.dataset.entry.jsonlPath] = [...event.scan.offending.positions()];
      },
    });
  } catch (error) {
    failure = errorMessage(error);
  }
  const problems: string[] = [];
  if (expected.error !== undefined && result !== undefined)
    problems.push(`expected ${expected.error.kind}, got success`);
  if (expected.error === undefined && failure !== undefined) problems.push(`unexpected failure: ${failure}`);
  if (
    expected.offending_row_indices !== null &&
    !isDeepStrictEqual(offending, expected.offending_row_indices)
  ) {
    problems.push(
      `offending rows ${JSON.stringify(offending)}, expected ${JSON.stringify(expected.offending_row_indices)}`,
    );
  }
  return [...problems, ...(await compareFiles(directory, input.files, expected.new_or_changed_files))];
}

async function compareFiles(
  directory: string,
  given: Record<string, string>,
  expected: Record<string, string>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, text] of Object.entries(expected)) {
    const actual = existsSync(path.join(directory, name))
      ? await readFile(path.join(directory, name), "utf8")
      : undefined;
    if (actual === undefined) problems.push(`${name} was not written`);
    // The golden file requires equal values; the unit tests require equal bytes.
    else if (actual !== text && !sameValues(actual, text)) problems.push(`${name} differs`);
  }
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const name = path.relative(directory, path.join(entry.parentPath, entry.name));
    if (!entry.isFile() || name in expected) continue;
    if (!(name in given)) problems.push(`${name} should not have been written`);
    else if ((await readFile(path.join(directory, name), "utf8")) !== given[name])
      problems.push(`${name} was changed`);
  }
  return problems;
}

function sameValues(actual: string, expected: string): boolean {
  const values = (text: string) =>
    text.startsWith("{\n")
      ? loadsPlain(text, { allowNonFinite: true })
      : text.split("\n").map((line) => line && loadsPlain(line, { allowNonFinite: true }));
  return isDeepStrictEqual(values(actual), values(expected));
}
