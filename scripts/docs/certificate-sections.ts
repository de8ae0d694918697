import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import {
  CERTIFICATE_FILE,
  type Certificate,
  readCertificates,
} from "../../src/cli/workloads/certify/certificate.ts";
import { markdownTable } from "./markdown.ts";

const SECTION = /\n## Certificate\n[\s\S]*?(?=\n## |$)/;

/** The READMEs of certified servers, with the figures of their certificates. */
export function certifiedReadmes(root: string): { file: string; text: string }[] {
  const servers = path.join(root, "resources_servers");
  return readdirSync(servers)
    .filter((name) => existsSync(path.join(servers, name, CERTIFICATE_FILE)))
    .map((name) => {
      const file = `resources_servers/${name}/README.md`;
      const text = readFileSync(path.join(root, file), "utf8");
      return { file, text: withSection(text, readCertificates(path.join(servers, name))) };
    });
}

function withSection(readme: string, certificates: Readonly<Record<string, Certificate>>): string {
  const rows = Object.entries(certificates).map(([config, { level, checks, mutation_score: score }]) => {
    const count = (status: string) => checks.filter((check) => check.status === status).length;
    const waived = checks.filter(({ status }) => status === "waived").map(({ check }) => `\`${check}\``);
    const { tried = 0, waived: equivalent = 0 } = (checks.find(({ check }) => check === "mutation-score")
      ?.measured ?? {}) as { tried?: number; waived?: number };
    const mutation = score === null ? "–" : `${(score * 100).toFixed(1)} % of ${tried - equivalent} faults`;
    return [`\`${config}\``, level, String(count("passed")), waived.join(", ") || "–", mutation];
  });
  const section = `\n## Certificate\n\n${markdownTable(["Config", "Level", "Checks passed", "Waived", "Mutation score"], rows)}\n`;
  return SECTION.test(readme) ? readme.replace(SECTION, () => section) : `${readme.trimEnd()}\n${section}`;
}
