import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../../../../base/errors.ts";
import { dumps } from "../../../../base/python/json/json-dumps.ts";
import { loads } from "../../../../base/python/json/json-loads.ts";
import { parseDatasetEntry } from "../../../../data/entry.ts";
import { scanDataset } from "../../../../data/scan-dataset.ts";
import { metricsContent, metricsDifferences, metricsPath } from "../../../../data/statistics/metrics-file.ts";
import { messageItem } from "../../../../servers/hosting/response-items.ts";
import type { Check, Finding } from "../audit.ts";

/** Number of example rows of a server. */
const EXAMPLES = 5;

export const exampleDataCheck: Check = {
  name: "example-rows-usable",
  title: "There are five example rows, and the server accepts them",
  async run(audit) {
    const findings: Finding[] = [];
    const { file, lineCount } = audit.dataset;
    if (lineCount !== EXAMPLES) {
      const message = `${path.basename(file)} has ${lineCount} rows instead of ${EXAMPLES}.`;
      findings.push({ message, evidence: { file } });
    }
    for (const index of audit.rows.keys()) {
      const attempt = { policy: "plain answer", items: [messageItem("Hello.")] };
      const outcome = await audit.rollout(index, attempt);
      if (outcome.status === 200) continue;
      findings.push({
        message: `${outcome.route} refuses the row with ${outcome.status}.`,
        row: index + 1,
        evidence: { file, result: outcome.result },
      });
    }
    return { findings };
  },
};

export const exampleMetricsCheck: Check = {
  name: "example-metrics-current",
  title: "example_metrics.json matches the example rows",
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
    const scan = await scanDataset(dataset.file, entry);
    // The values go through text like those of the file, because numbers are compared as they are written.
    const current = loads(dumps(metricsContent(entry.shown, scan.statistics.summary())), {
      allowNonFinite: true,
    });
    const differences = metricsDifferences(previous, current);
    if (differences.length === 0) return { findings: [] };
    return { findings: [finding(`${name} does not fit the rows. ${advice}`, { differences })] };
  },
};
