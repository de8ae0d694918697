import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../../../../base/errors.ts";
import { dumps, loads } from "../../../../base/python/json/door.ts";
import { parseDatasetEntry, scanDataset } from "../../../../data/door.ts";
import { metricsContent, metricsDifferences, metricsPath } from "../../../../data/light-door.ts";
import { messageItem } from "../../../../servers/hosting/light-door.ts";
import type { AuditFinding, Check } from "../audit.ts";

/** Number of example rows of a server. */
const EXAMPLES = 5;

export const exampleDataCheck: Check = {
  name: "example-rows-usable",
  title: "There are five example rows, and the server accepts them",
  async run(audit) {
    const findings: AuditFinding[] = [];
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
        message: `${outcome.route} rejects the row with ${outcome.status}.`,
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
  async run({ dataset, configFile }) {
    const file = metricsPath(dataset.file);
    const name = path.basename(file);
    // The joined rows go elsewhere; the metrics are written next to the example rows.
    const advice = `Write it with \`gym dataset collate --config ${path.relative("", configFile)} --mode example_validation --output-dir results/examples\`.`;
    const finding = (message: string, evidence: object = {}): AuditFinding => ({
      message,
      evidence: { file, ...evidence },
    });
    // A new environment has none yet; `gym env test` asks for it.
    if (!existsSync(file)) return { findings: [], skipped: `there is no ${name} yet. ${advice}` };
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
