import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { installRoot } from "../src/config/paths.ts";
import type { Report } from "./report.ts";

export const name = "catalog";

const COMPONENTS = 200;
const ROUNDS = 8;
const RUNS = 3;
const BUDGET_MS = 150;

/** The cost of a listing compared with bare Node, in a project with 100 resources servers and 100 benchmarks besides the built-in ones. */
export async function run(report: Report, cwd: string): Promise<void> {
  const gym = [process.execPath, path.join(installRoot(), "bin/gym.js")];
  for (let index = 0; index < COMPONENTS / 2; index++) await writePair(cwd, `part_${index}`);
  const commands = [
    ["list", "environments"],
    ["list", "benchmarks"],
    ["search", "part_77"],
    ["list", "resources-servers"],
  ];
  const [bare, ...measured] = await report.measurePrograms(
    [
      { label: "node -e 0", command: [process.execPath, "-e", "0"], cwd },
      ...commands.map((args) => ({ label: `gym ${args.join(" ")}`, command: [...gym, ...args], cwd })),
    ],
    ROUNDS,
    RUNS,
  );
  for (const { label, cpuMs } of measured) {
    const over = cpuMs - (bare?.cpuMs ?? 0);
    report.check(
      `${label}, ${COMPONENTS} components: ${over.toFixed(0)} ms over bare node (at most ${BUDGET_MS})`,
      over <= BUDGET_MS,
    );
  }
}

async function writePair(root: string, name: string): Promise<void> {
  await write(
    root,
    `resources_servers/${name}/configs/${name}.yaml`,
    `${name}:
  resources_servers:
    ${name}:
      entrypoint: app.ts
      domain: math
      description: Sums of the kind ${name}
${name}_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server:
        type: resources_servers
        name: ${name}
      model_server:
        type: responses_api_models
        name: policy_model
      datasets:
      - name: example
        type: example
        jsonl_fpath: resources_servers/${name}/data/example.jsonl
`,
  );
  await write(
    root,
    `benchmarks/${name}_test/config.yaml`,
    `config_paths:
- resources_servers/${name}/configs/${name}.yaml
${name}_test_agent:
  _inherit_from: ${name}_simple_agent
  responses_api_agents:
    simple_agent:
      datasets:
      - name: ${name}_test
        type: benchmark
        jsonl_fpath: benchmarks/${name}_test/data/rows.jsonl
        prepare_script: benchmarks/${name}_test/prepare.ts
        num_repeats: 4
`,
  );
}

async function write(root: string, file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}
