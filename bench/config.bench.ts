import { writeFile } from "node:fs/promises";
import path from "node:path";
import { resolveConfig } from "../src/config/resolve.ts";
import type { Report } from "./report.ts";

export const name = "config";

const FILES = 50;
const INSTANCES_PER_FILE = 10;
const RUNS = 5;
const BUDGET_MS = 1000;

/** A large config: many files, each with servers that reference each other. */
export async function run(report: Report, cwd: string): Promise<void> {
  const names = Array.from({ length: FILES }, (_, index) => `part${index}.yaml`);
  await Promise.all(names.map((file, index) => writeFile(path.join(cwd, file), part(index))));
  await writeFile(path.join(cwd, "main.yaml"), `config_paths: [${names.join(", ")}]\nshared: {limit: 5}\n`);
  const { cpuMs } = await report.measure(
    `${FILES * INSTANCES_PER_FILE} servers in ${FILES} files`,
    RUNS,
    () => resolveConfig({ overrides: ["+config_paths=[main.yaml]"], cwd, env: {}, installRoot: cwd }),
  );
  report.check(`resolved in ${cpuMs.toFixed(0)} ms CPU (at most ${BUDGET_MS})`, cpuMs <= BUDGET_MS);
}

function part(file: number): string {
  return Array.from({ length: INSTANCES_PER_FILE / 2 }, (_, index) => {
    const label = `s${file}_${index}`;
    return `
${label}:
  resources_servers:
    bench: {entrypoint: app.ts, domain: other, limit: "\${shared.limit}"}
${label}_agent:
  responses_api_agents:
    bench:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: ${label}}
`;
  }).join("");
}
