import { writeFile } from "node:fs/promises";
import path from "node:path";
import { installRoot } from "../src/config/paths.ts";
import type { Report } from "./report.ts";

export const name = "startup";

const ROUNDS = 8;
const RUNS = 5;
const HELP_BUDGET_MS = 60;
const VALIDATE_BUDGET_MS = 200;

const THREE_SERVERS = `
bench_resources:
  resources_servers:
    bench: {entrypoint: app.ts, domain: other}
policy_model:
  responses_api_models:
    bench: {entrypoint: app.ts, base_url: "\${policy_base_url}"}
bench_agent:
  responses_api_agents:
    bench:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: bench_resources}
      model_server: {type: responses_api_models, name: policy_model}
`;

/** The cost of a start: bare Node, the help, and a whole validation. */
export async function run(report: Report, cwd: string): Promise<void> {
  const gym = [process.execPath, path.join(installRoot(), "bin/gym.js")];
  await writeFile(path.join(cwd, "three.yaml"), THREE_SERVERS);
  const [bare = 0, help = 0, validate = 0] = (
    await report.measurePrograms(
      [
        { label: "node -e 0", command: [process.execPath, "-e", "0"], cwd },
        { label: "gym --help", command: [...gym, "--help"], cwd },
        {
          label: "gym env validate (3 servers)",
          command: [...gym, "env", "validate", "--config", "three.yaml"],
          cwd,
        },
      ],
      ROUNDS,
      RUNS,
    )
  ).map(({ cpuMs }) => cpuMs);
  const overHelp = help - bare;
  const overValidate = validate - bare;
  report.check(
    `gym --help: ${overHelp.toFixed(0)} ms over bare node (at most ${HELP_BUDGET_MS})`,
    overHelp <= HELP_BUDGET_MS,
  );
  report.check(
    `gym env validate: ${overValidate.toFixed(0)} ms over bare node (at most ${VALIDATE_BUDGET_MS})`,
    overValidate <= VALIDATE_BUDGET_MS,
  );
}
