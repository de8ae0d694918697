import { suggest } from "../../base/suggest.ts";
import { RolloutError } from "../../records/errors.ts";
import type { JsonlLine } from "../../records/files/door.ts";

/** Maximum number of unknown agents that the error names. */
const MAX_NAMED = 10;

/** Rejects an agent that is not running. `isType`: code with that name exists, and `--agent-type` would run it. */
export function checkAgentName(agent: string, known: readonly string[], isType: boolean): void {
  if (known.includes(agent)) return;
  const nearest = suggest(agent, known);
  const similar = nearest === undefined ? "" : ` Did you mean '${nearest}'?`;
  const hint = isType ? ` To run the environment with this agent, use --agent-type ${agent}.` : similar;
  throw new RolloutError(
    "ROLLOUT_UNKNOWN_AGENT",
    `There is no agent '${agent}'.${hint}\nAgents: ${known.join(", ") || "none"}.`,
  );
}

/** Finds rows of agents that are not running and reports all of them in one error. */
export class AgentCheck {
  readonly #known: ReadonlySet<string> | undefined;
  readonly #unknown = new Map<string, { rows: number; line: number }>();

  readonly #chosen: string | null | undefined;

  /** `chosen` is the agent for rows that name none. */
  constructor(known: readonly string[] | undefined, chosen?: string | null) {
    this.#known = known && new Set(known);
    this.#chosen = chosen;
  }

  accepts(agent: string, line: JsonlLine): boolean {
    if (!this.#known || this.#known.has(agent)) return true;
    const entry = this.#unknown.get(agent);
    if (entry) entry.rows++;
    else this.#unknown.set(agent, { rows: 1, line: line.number });
    return false;
  }

  finish(path: string): void {
    if (this.#unknown.size === 0) return;
    const known = [...(this.#known ?? [])];
    const named = [...this.#unknown].slice(0, MAX_NAMED).map(([agent, { rows, line }]) => {
      const nearest = suggest(agent, known);
      const hint = nearest === undefined ? "" : `; did you mean '${nearest}'?`;
      const origin = agent === this.#chosen ? ", named by --agent (agent_name)" : "";
      return `  - '${agent}'${origin} (${rows} ${rows === 1 ? "row" : "rows"}, first at ${path}:${line}${hint})`;
    });
    const more = this.#unknown.size > MAX_NAMED ? `\n  … and ${this.#unknown.size - MAX_NAMED} more` : "";
    throw new RolloutError(
      "ROLLOUT_UNKNOWN_AGENT",
      `Rows are for agents that are not running:\n${named.join("\n")}${more}\nAgents: ${known.join(", ") || "none"}.`,
    );
  }
}
