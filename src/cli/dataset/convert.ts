import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { findPath } from "../../config/paths.ts";
import type { Format } from "../../data/convert/format-names.ts";
import {
  type ConvertOptions,
  type ConvertReport,
  convertDataset,
  formatName,
  openConversion,
  readMap,
} from "../../data/door.ts";
import { DatasetError } from "../../data/errors.ts";
import { loadPromptConfig } from "../../data/light-door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { outputFile, shownPath, withFileErrors } from "../files.ts";
import { countText } from "../render/progress.ts";
import { wrapText } from "../render/text-width.ts";
import { hubAccessOf } from "./access.ts";
import { formatRow } from "./head.ts";
import { hubKeys } from "./keys.ts";

/** Rows that are shown when nothing is written. */
const PREVIEW_ROWS = 2;
/** Rows that did not fit that are shown; all are in `--json`. */
const SHOWN_PROBLEMS = 20;

interface ConvertFlags {
  readonly input: string;
  readonly output: string | undefined;
  readonly format: Format | undefined;
  readonly map: readonly string[];
  readonly limit: number | undefined;
  readonly preview: number | undefined;
  readonly strict: boolean;
  readonly "prompt-config": string | undefined;
  readonly documents: string | undefined;
  readonly examples: string | undefined;
  readonly "num-fewshot": number | undefined;
  readonly processed: boolean;
}

/** `gym dataset convert`. */
export async function convert(context: CommandContext, flags: ConvertFlags): Promise<number> {
  const keys = readKeys(hubKeys, await context.resolve());
  const { output: given, preview, strict, "prompt-config": prompt, input, format, limit } = flags;
  const { documents, examples, processed, "num-fewshot": shots } = flags;
  return withFileErrors(async () => {
    const output = given === undefined ? undefined : await outputFile(context, given, "name a file");
    const directory =
      output === undefined
        ? path.join(os.tmpdir(), `gym-convert-${randomUUID()}`)
        : `${output.replace(/\.jsonl$/, "")}_sources`;
    const promptConfig =
      prompt === undefined ? undefined : await loadPromptConfig(findPath(prompt, context.roots));
    const options: ConvertOptions = {
      ...{ input, format, limit, documents, examples, shots, processed, promptConfig },
      map: readMap(flags.map),
      access: {
        hub: hubAccessOf(keys, context),
        directory,
        roots: context.roots,
        signal: context.signal,
        log: context.err,
      },
    };
    if (output === undefined) return showRows(context, options, preview ?? PREVIEW_ROWS);
    const existing = findPath(options.input, context.roots);
    if (path.resolve(existing) === output)
      throw new DatasetError(
        "DATASET_OUTPUT_OVERWRITES_SOURCE",
        `The output '${given}' is the input itself.`,
      );
    const report = await convertDataset({ ...options, output, strict });
    if (preview !== undefined && preview > 0)
      await showRows(context, { ...options, limit: preview }, preview);
    printReport(context, report, output);
    return 0;
  });
}

/** Shows the first rows without writing them. */
async function showRows(context: CommandContext, options: ConvertOptions, count: number): Promise<number> {
  const { out, terminal, json } = context;
  try {
    const { report, rows } = await openConversion({ ...options, limit: count });
    if (!json) out(`${options.input}: ${formatName(report.format)} (--format ${report.format})`);
    for await (const { where, row } of rows) {
      if (json) out(JSON.stringify({ where, format: report.format, row }));
      else out(`\n${terminal.bold(`── ${where} `)}\n${formatRow(row, { full: false, terminal })}`);
    }
    printProblems(context, report);
    if (!json && report.converted > 0 && context.flags["output"] === undefined)
      context.err("\nNothing is written. Add -o FILE to convert all rows.");
    return report.converted > 0 ? 0 : 1;
  } finally {
    await rm(options.access.directory, { recursive: true, force: true });
  }
}

function printReport(context: CommandContext, report: ConvertReport, output: string): void {
  const { out, json, terminal } = context;
  if (json) {
    out(JSON.stringify({ output, ...report }));
    return;
  }
  out(
    `${countText(report.converted, "row")} from ${formatName(report.format)}: ${shownPath(context, output)}`,
  );
  for (const notice of report.notices) for (const line of wrapText(notice, 78)) out(terminal.dim(line));
  printProblems(context, report);
}

function printProblems({ err, terminal }: CommandContext, { rejected, read, problems }: ConvertReport): void {
  if (rejected === 0) return;
  err(terminal.yellow(`${rejected} of ${countText(read, "row")} did not fit:`));
  for (const { where, reason } of problems.slice(0, SHOWN_PROBLEMS)) err(`  ${where}: ${reason}`);
  if (rejected > SHOWN_PROBLEMS) err(`  … and ${rejected - SHOWN_PROBLEMS} more (--json lists up to 1,000).`);
}
