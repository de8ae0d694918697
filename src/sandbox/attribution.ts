import { randomBytes } from "node:crypto";
import { userInfo } from "node:os";

const VARIABLES = {
  team: ["NEMO_GYM_TEAM", "SLURM_JOB_ACCOUNT"],
  user: ["NEMO_GYM_USER", "SLURM_JOB_USER"],
  workload: ["NEMO_GYM_WORKLOAD", "SLURM_JOB_NAME", "NEMO_GYM_CONFIG_PATH"],
  run: ["NEMO_GYM_RUN_ID"],
} as const;

type Field = keyof typeof VARIABLES;

/** The same for all sandboxes of this process, so that they can be found together. */
const RUN_OF_THIS_PROCESS = randomBytes(6).toString("hex");

export interface AttributionOptions extends Partial<Record<Field, string>> {
  env?: NodeJS.ProcessEnv;
  /** The name of the operating system's user; undefined for a user without a name. */
  login?: () => string | undefined;
  /** The workload if no option and no variable sets it: the server instance. */
  workloadFallback?: string;
}

/**
 * The owner of a sandbox, for its metadata. Each field comes from the options, then from the variables of the gym, then from
 * those of Slurm. The last choices are the login name for the user, unless it is root, and a random name for the run.
 * Unknown fields are absent.
 */
export function attribution(options: AttributionOptions = {}): Record<string, string> {
  const { env = process.env, login = loginName } = options;
  const named = (field: Field) => options[field] || firstOf(env, VARIABLES[field]);
  const fields = {
    team: named("team"),
    user: named("user") || notRoot(login()),
    workload: named("workload") || options.workloadFallback,
    run: named("run") || RUN_OF_THIS_PROCESS,
  };
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}

function notRoot(name: string | undefined): string | undefined {
  return name === "root" ? undefined : name;
}

function firstOf(env: NodeJS.ProcessEnv, names: readonly string[]): string | undefined {
  return names.map((name) => env[name]?.trim()).find(Boolean);
}

function loginName(): string | undefined {
  try {
    return userInfo().username.trim();
  } catch {
    // The user id of a container may have no name.
    return undefined;
  }
}
