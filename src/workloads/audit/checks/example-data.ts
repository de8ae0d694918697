import path from "node:path";
import { messageItem } from "../../../hosting/response-items.ts";
import type { Check } from "../audit.ts";
import type { Finding } from "../report.ts";

/** How many examples a server ships. */
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
