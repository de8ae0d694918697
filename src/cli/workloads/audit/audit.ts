import type { JsonObject } from "../../../base/python/json/door.ts";
import type { TestServer } from "../../../servers/hosting/door.ts";
import { type JudgeMode, type ServerUnderAudit, startServer } from "./audited-server.ts";
import { type AuditAttempt, type AuditOutcome, runRollout } from "./rollout.ts";
import type { AuditSettings } from "./settings.ts";

/** Rewards that differ by less are equal. */
const REWARD_TOLERANCE = 1e-9;

/** A problem that a check found, with the evidence to reproduce it. */
export interface AuditFinding {
  readonly message: string;
  /** 1-based line of the row in the example file. */
  readonly row?: number;
  readonly policy?: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

export interface CheckResult {
  readonly findings: readonly AuditFinding[];
  /** Why there was nothing to check. */
  readonly skipped?: string;
  /** A short summary of the work that was done. */
  readonly note?: string;
  /** From 0 to 1, for waivers with a minimum. */
  readonly score?: number;
  /** What was measured, for certificates. */
  readonly measured?: Readonly<Record<string, unknown>>;
}

export interface Check {
  readonly name: string;
  /** The requirement. */
  readonly title: string;
  run(audit: Audit): Promise<CheckResult>;
}

export interface CheckReport extends CheckResult {
  readonly check: string;
  readonly status: "passed" | "failed" | "waived" | "skipped";
  /** The reason in `audit.yaml` for accepting the findings. */
  readonly waiver?: string;
}

/** The audit of one resources server. */
export interface AuditReport {
  /** Instance name. */
  readonly server: string;
  readonly implementation: string;
  readonly config: string;
  readonly dataset: string;
  readonly rows: number;
  readonly passed: boolean;
  readonly checks: readonly CheckReport[];
  /** Waivers of checks without findings. */
  readonly unusedWaivers: readonly string[];
}

/** A server, and the example rows it is audited with. */
export interface AuditTarget {
  readonly server: ServerUnderAudit;
  readonly configFile: string;
  readonly rows: readonly JsonObject[];
  readonly settings: AuditSettings;
  /** The example dataset, for the checks of its files. */
  readonly dataset: AuditedDataset;
}

interface AuditedDataset {
  readonly file: string;
  /** The other datasets of the agents of the server that are on this machine. */
  readonly splits: readonly { readonly type: string; readonly file: string }[];
  /** The entry of the config. */
  readonly entry: JsonObject;
  readonly lineCount: number;
}

interface RolloutOptions {
  readonly judge?: JudgeMode;
  /** The server to use. By default each rollout gets a fresh one. */
  readonly server?: TestServer;
}

/** The server, the rows and the rollouts that a check works with. */
export class Audit {
  readonly server: ServerUnderAudit;
  readonly rows: readonly JsonObject[];
  readonly settings: AuditSettings;
  readonly dataset: AuditedDataset;
  readonly configFile: string;
  /** Number of calls to other servers so far. */
  judgeCalls = 0;
  readonly #onRollout: (what: string) => void;

  constructor(
    { server, rows, settings, dataset, configFile }: AuditTarget,
    onRollout: (what: string) => void,
  ) {
    this.server = server;
    this.rows = rows;
    this.settings = settings;
    this.dataset = dataset;
    this.configFile = configFile;
    this.#onRollout = onRollout;
  }

  get kind(): "standard" | "gymnasium" {
    const { definition } = this.server;
    return definition.type === "resources_servers" ? definition.kind : "standard";
  }

  /** Whether the reward can depend on the model's actions and not only on its answer. */
  get keepsState(): boolean {
    const { definition } = this.server;
    if (definition.type !== "resources_servers") return false;
    if (definition.kind === "gymnasium") return true;
    const { tools, fallbackTool, session } = definition.options;
    return [tools, fallbackTool, session].some((option) => option !== undefined);
  }

  /** Calls `use` with a fresh server. */
  async withServer<T>(judge: JudgeMode, use: (server: TestServer) => Promise<T>): Promise<T> {
    const server = await startServer(this.server, judge, () => {
      this.judgeCalls++;
    });
    try {
      return await use(server);
    } finally {
      await server.close();
    }
  }

  async rollout(
    index: number,
    attempt: AuditAttempt,
    { judge = "reject", server }: RolloutOptions = {},
  ): Promise<AuditOutcome> {
    const row = this.rows[index] ?? {};
    this.#onRollout(`row ${index + 1}, ${attempt.policy}`);
    const run = (used: TestServer) => runRollout(used, row, attempt, this.kind);
    return server === undefined ? this.withServer(judge, run) : run(server);
  }

  /** Runs the attempts of every row. `problemsOf` returns the messages of the findings about an outcome. */
  async tryRows(
    attemptsFor: (row: JsonObject, index: number) => readonly AuditAttempt[],
    problemsOf: (outcome: AuditOutcome) => readonly string[],
    options?: RolloutOptions,
  ): Promise<{ findings: AuditFinding[]; rollouts: number }> {
    const findings: AuditFinding[] = [];
    let rollouts = 0;
    for (const [index, row] of this.rows.entries()) {
      for (const attempt of attemptsFor(row, index)) {
        const outcome = await this.rollout(index, attempt, options);
        rollouts++;
        for (const problem of problemsOf(outcome)) findings.push(findingOf(problem, index, attempt, outcome));
      }
    }
    return { findings, rollouts };
  }
}

/** A finding about one rollout, with its output and its result as evidence. */
export function findingOf(
  message: string,
  index: number,
  attempt: AuditAttempt,
  outcome: AuditOutcome,
): AuditFinding {
  return {
    message,
    row: index + 1,
    policy: attempt.policy,
    evidence: {
      ...(attempt.calls !== undefined && attempt.calls.length > 0 && { calls: attempt.calls }),
      output: attempt.items,
      route: outcome.route,
      status: outcome.status,
      reward: outcome.reward ?? null,
      result: outcome.result,
    },
  };
}

export function sameReward(a: number | undefined, b: number | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Math.abs(a - b) <= REWARD_TOLERANCE || Object.is(a, b);
}
