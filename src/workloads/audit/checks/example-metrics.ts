import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseDatasetEntry } from "../../../datasets/entry.ts";
import { scanDataset } from "../../../datasets/scan-dataset.ts";
import { metricsDifferences } from "../../../datasets/statistics/metrics-comparison.ts";
import { metricsContent, metricsPath } from "../../../datasets/statistics/metrics-file.ts";
import { errorMessage } from "../../../errors.ts";
import { dumps } from "../../../python/json/json-dumps.ts";
import { loads } from "../../../python/json/json-loads.ts";
import type { Check } from "../audit.ts";
import type { Finding } from "../report.ts";

export const exampleMetricsCheck: Check = {
  name: "example-metrics-current",
  title: "The metrics beside the examples are theirs",
  async run({ dataset }) {
    const file = metricsPath(dataset.file);
    const name = path.basename(file);
    const advice =
      "Write it with `gym dataset collate --config FILE --mode example_validation --output-dir DIR`.";
    const finding = (message: string, evidence: object = {}): Finding => ({
      message,
      evidence: { file, ...evidence },
    });
    if (!existsSync(file)) return { findings: [finding(`${name} is missing. ${advice}`)] };
    let previous: unknown;
    try {
      previous = loads(readFileSync(file, "utf8"), { allowNonFinite: true });
    } catch (error) {
      return { findings: [finding(`${name} is not JSON: ${errorMessage(error)}`)] };
    }
    const entry = parseDatasetEntry(dataset.entry, "the audited config");
    const scan = await scanDataset(dataset.file, entry, {});
    // Through text, as the file was: numbers compare by how they are written.
    const current = loads(dumps(metricsContent(entry.shown, scan.statistics.summary())), {
      allowNonFinite: true,
    });
    const differences = metricsDifferences(previous, current);
    if (differences.length === 0) return { findings: [] };
    return { findings: [finding(`${name} does not fit the rows. ${advice}`, { differences })] };
  },
};
