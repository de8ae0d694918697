import { randomBytes } from "node:crypto";
import { userInfo } from "node:os";

const VARIABLES = {
  team: ["NEMO_GYM_TEAM", "SLURM_JOB_ACCOUNT"],
  user: ["NEMO_GYM_USER", "SLURM_JOB_USER"],
  workload: ["NEMO_GYM_WORKLOAD", "SLURM_JOB_NAME", "NEMO_GYM_CONFIG_PATH"],
  run: ["NEMO_GYM_RUN_ID"],
} as const;

type Field = keyof typeof VARIABLES;
const FIELDS = ["team", "user", "workload", "run"] as const satisfies readonly Field[];

/** One a process, so that all sandboxes of a run can be found. */
let runOfThisProcess: string | undefined;

export interface AttributionOptions extends Partial<Record<Field, string | undefined>> {
  env?: NodeJS.ProcessEnv;
  /** The name of the operating system's user; undefined when it has none. */
  login?: () => string | undefined;
  /** Used when nothing names the workload: the instance that asks. */
  workloadFallback?: string | undefined;
}

/**
 * Whose a sandbox is, for its metadata: what is given, then the gym's variables, then those of Slurm, then (user) the login
 * unless it is root, and (run) a random name. What cannot be told is left out.
 */
export function attribution(options: AttributionOptions = {}): Record<string, string> {
  const { env = process.env, login = loginName } = options;
  const fallbacks: Partial<Record<Field, () => string | undefined>> = {
    user: () => {
      const name = login();
      return name === "root" ? undefined : name;
    },
    workload: () => options.workloadFallback,
    run: () => {
      runOfThisProcess ??= randomBytes(6).toString("hex");
      return runOfThisProcess;
    },
  };
  const found: Record<string, string> = {};
  for (const field of FIELDS) {
    const value = options[field] || firstOf(env, VARIABLES[field]) || fallbacks[field]?.();
    if (value) found[field] = value;
  }
  return found;
}

function firstOf(env: NodeJS.ProcessEnv, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = env[name]?.trim();
    if (value) return value;
  }
  return undefined;
}

function loginName(): string | undefined {
  try {
    return userInfo().username.trim();
  } catch {
    // A container may run under a uid that has no name.
    return undefined;
  }
}
