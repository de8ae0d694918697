import { stat } from "node:fs/promises";
import { dumps } from "../../base/python/json/door.ts";
import { scanDataset, summarizeScan } from "../../data/door.ts";
import { ExtendedStatistics, extendedContent, metricsContent, tokenCounter } from "../../data/light-door.ts";
import type { CommandContext } from "../command.ts";
import { rootedFile, withFileErrors } from "../files.ts";
import { rejectSurplusWords } from "../overrides.ts";
import { withByteProgress } from "../render/progress.ts";
import { formatExtended, formatRowReports, formatStatistics, rowReportsJson } from "./scan-text.ts";

const ALL_LINES = { lines: { start: 0, end: Number.POSITIVE_INFINITY }, repeats: 1 };

/** `gym dataset stats`. */
export async function showStatistics(
  context: CommandContext,
  name: string,
  flags: { tokens: boolean; strict: boolean },
): Promise<number> {
  rejectSurplusWords(context);
  return withFileErrors(async () => {
    const file = await rootedFile(context, name, "FILE");
    const { size } = await stat(file);
    const extended = new ExtendedStatistics(flags.tokens ? await tokenCounter() : undefined);
    const scan = await withByteProgress(context, (progress) =>
      scanDataset(file, ALL_LINES, {
        signal: context.signal,
        onValidRow: (params) => extended.observe(params),
        onProgress: (bytes) => progress.update(`Reading ${name}`, bytes, size),
      }),
    );
    const summary = summarizeScan(scan, name);
    const more = extended.summary();
    if (context.json) {
      const report = {
        file: name,
        ...rowReportsJson(scan),
        metrics: metricsContent({}, summary),
        ...extendedContent(more),
      };
      context.out(dumps(report, { ensureAscii: false }));
    } else {
      for (const line of formatRowReports(name, scan, context.terminal)) context.err(line);
      context.out(
        formatStatistics(`${name}: valid examples: ${summary.examples}`, summary, context.terminal),
      );
      context.out(formatExtended(more, context.terminal));
    }
    return flags.strict && scan.bad.count > 0 ? 1 : 0;
  });
}
