import type { TestServer } from "../../hosting/test-server.ts";
import type { JsonObject } from "../../python/json/json-object.ts";
import { type JudgeMode, type ServerUnderAudit, startServer } from "./audited-server.ts";
import type { CheckResult, Finding } from "./report.ts";
import { type Attempt, type Outcome, runRollout } from "./rollout.ts";
import type { AuditSettings } from "./settings.ts";

/** Rewards that differ by less are the same. */
const REWARD_TOLERANCE = 1e-9;

/** What a check works with: the server, its rows, and rollouts of any policy. */
export class Audit {
  readonly server: ServerUnderAudit;
  readonly rows: readonly JsonObject[];
  readonly settings: AuditSettings;
  /** The example data set of the server, for checks of the files. */
  readonly dataset: AuditedDataset;
  readonly #onRollout: (what: string) => void;

  constructor(options: {
    server: ServerUnderAudit;
    rows: readonly JsonObject[];
    settings: AuditSettings;
    dataset: AuditedDataset;
    onRollout?: (what: string) => void;
  }) {
    this.server = options.server;
    this.rows = options.rows;
    this.settings = options.settings;
    this.dataset = options.dataset;
    this.#onRollout = options.onRollout ?? (() => {});
  }

  get kind(): "standard" | "gymnasium" {
    const { definition } = this.server;
    return definition.type === "resources_servers" ? definition.kind : "standard";
  }

  /** Whether what the model does, and not only what it answers, may decide about the reward. */
  get keepsState(): boolean {
    const { definition } = this.server;
    if (definition.type !== "resources_servers") return false;
    if (definition.kind === "gymnasium") return true;
    const { tools, fallbackTool, session } = definition.options;
    return [tools, fallbackTool, session].some((option) => option !== undefined);
  }

  /** How often another server was asked so far. */
  judgeCalls = 0;

  /** Runs something against a fresh server. */
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

  /** One rollout on a server of its own, or on one that is given. */
  async rollout(
    index: number,
    attempt: Attempt,
    options: { judge?: JudgeMode; server?: TestServer } = {},
  ): Promise<Outcome> {
    const row = this.rows[index] ?? {};
    this.#onRollout(`row ${index + 1}, ${attempt.policy}`);
    if (options.server !== undefined) return runRollout(options.server, row, attempt, this.kind);
    return this.withServer(options.judge ?? "reject", (server) =>
      runRollout(server, row, attempt, this.kind),
    );
  }
}

/** Where the rows came from. */
export interface AuditedDataset {
  readonly file: string;
  /** The entry of the config, as metrics files show it. */
  readonly entry: JsonObject;
  readonly lineCount: number;
}

export interface Check {
  readonly name: string;
  /** What must hold. */
  readonly title: string;
  run(audit: Audit): Promise<CheckResult>;
}

/** A finding about one rollout, with what was answered and what came back. */
export function findingOf(message: string, index: number, attempt: Attempt, outcome: Outcome): Finding {
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
