import { stat } from "node:fs/promises";
import { scanDataset, summarizeScan } from "../../datasets/scan-dataset.ts";
import { ExtendedStatistics, type ExtendedSummary } from "../../datasets/statistics/extended-statistics.ts";
import { metricsContent, numericContent } from "../../datasets/statistics/metrics-file.ts";
import { dumps } from "../../python/json/json-dumps.ts";
import { renderTable } from "../render/table.ts";
import type { DatasetContext } from "./context.ts";
import { rootedFile, withFileErrors } from "./input-file.ts";
import { formatStatistics, numericRow } from "./metrics-table.ts";
import { formatRowReports, rowReportsJson } from "./row-reports.ts";
import { refuseSurplusWords } from "./surplus-words.ts";
import { ByteProgress } from "./transfer-progress.ts";

export interface StatsFlags {
  readonly tokens: boolean;
  readonly strict: boolean;
  readonly json: boolean;
}

const ALL_LINES = { lines: { start: 0, end: Number.POSITIVE_INFINITY }, repeats: 1 };

/** `gym dataset stats`. */
export async function showStatistics(
  context: DatasetContext,
  name: string,
  flags: StatsFlags,
): Promise<number> {
  refuseSurplusWords(context);
  return withFileErrors(async () => {
    const file = await rootedFile(context, name, "FILE");
    const { size } = await stat(file);
    const extended = new ExtendedStatistics(flags.tokens ? await tokenCounter() : undefined);
    const progress = new ByteProgress(context);
    const scan = await scanDataset(file, ALL_LINES, {
      signal: context.signal,
      onValidRow: (params) => extended.observe(params),
      onProgress: (bytes) => progress.update(`Reading ${name}`, bytes, size),
    });
    progress.end();
    const summary = summarizeScan(scan, name);
    const more = extended.summary();
    if (flags.json || context.json) {
      const report = {
        file: name,
        ...rowReportsJson(scan),
        metrics: metricsContent({}, summary),
        ...extendedJson(more),
      };
      context.out(dumps(report, { ensureAscii: false }));
    } else {
      for (const line of formatRowReports(name, scan, context.terminal)) context.err(line);
      context.out(
        formatStatistics(`${name}: valid examples: ${summary.examples}`, summary, context.terminal),
      );
      context.out(formatExtended(more, context));
    }
    return flags.strict && scan.bad.count > 0 ? 1 : 0;
  });
}

async function tokenCounter(): Promise<(text: string) => number> {
  const { countTokens } = await import("gpt-tokenizer");
  // Rows are data: what looks like a special token in them is text.
  return (text) => countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
}

function extendedJson(summary: ExtendedSummary) {
  const sampling = Object.entries(summary.samplingParameters).map(([name, value]) => [
    name,
    numericContent(value),
  ]);
  return {
    unique_create_params: summary.uniqueCreateParams,
    unique_user_messages: summary.uniqueUserMessages,
    sampling_parameters: Object.fromEntries(sampling) as Record<string, object>,
    ...(summary.tokens !== undefined && { tokens: numericContent(summary.tokens) }),
  };
}

function formatExtended(summary: ExtendedSummary, { terminal }: DatasetContext): string {
  const rows = Object.entries(summary.samplingParameters).map(([name, value]) => numericRow(name, value));
  if (summary.tokens !== undefined) rows.push(numericRow("input tokens", summary.tokens));
  const columns = ["Sampling and length", "Values", "Average", "Min", "Max", "Std. dev."];
  return [
    ...(rows.length > 0 ? [renderTable({ columns, rows }, terminal)] : []),
    `Distinct create params: ${summary.uniqueCreateParams}`,
    `Distinct user messages: ${summary.uniqueUserMessages}`,
  ].join("\n");
}
