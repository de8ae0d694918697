import path from "node:path";
import { installRoot } from "../src/config/paths.ts";
import type { Report } from "./report.ts";

export const name = "startup";

const ROUNDS = 4;
const RUNS = 3;
/** CPU as a multiple of bare Node, which does not depend on the machine and its load. Node 24 starts in half the time of 20. */
const IS_OLD = Number(process.versions.node.split(".")[0]) < 22;
const HELP_BUDGET = IS_OLD ? 2 : 2.5;
const VALIDATE_BUDGET = IS_OLD ? 8 : 15;
const RUN_BUDGET = IS_OLD ? 17 : 32;

/** What users type: an included environment with a model that needs no endpoint. */
const SERVERS = ["--resources-server", "mcqa", "--model-type", "random_model", "--env-yaml", "none"];

/** The cost of a start: bare Node, the help, a validation, and an evaluation of one row. */
export async function run(report: Report, cwd: string): Promise<void> {
  const gym = [process.execPath, path.join(installRoot(), "bin/gym.js")];
  const evaluation = ["eval", "run", ...SERVERS, "--limit", "1", "-o", "results/run.jsonl"];
  const [bare = 0, help = 0, validate = 0, evaluated = 0] = (
    await report.measurePrograms(
      [
        { label: "node -e 0", command: [process.execPath, "-e", "0"], cwd },
        { label: "gym --help", command: [...gym, "--help"], cwd },
        { label: "gym env validate (mcqa)", command: [...gym, "env", "validate", ...SERVERS], cwd },
        { label: "gym eval run (mcqa, one row)", command: [...gym, ...evaluation], cwd },
      ],
      ROUNDS,
      RUNS,
    )
  ).map(({ cpuMs }) => cpuMs);
  const check = (what: string, cpuMs: number, budget: number) =>
    report.check(
      `${what}: ${(cpuMs / bare).toFixed(1)} times bare node, ${(cpuMs - bare).toFixed(0)} ms more (at most ${budget} times)`,
      cpuMs <= budget * bare,
    );
  check("gym --help", help, HELP_BUDGET);
  check("gym env validate", validate, VALIDATE_BUDGET);
  check("gym eval run of one row", evaluated, RUN_BUDGET);
}
