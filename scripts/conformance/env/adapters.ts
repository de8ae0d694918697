import type { Environment, RowServer } from "./environment-server.ts";
import type { FixtureRow, JsonObject } from "./rows.ts";
import type { RecordedCall } from "./scripted-servers.ts";

/** What the fixtures of one environment need beyond the general formats. */
export interface Adapter {
  /** Config keys the fixtures leave out. */
  config?(row: FixtureRow, environment: Environment): JsonObject;
  /** Makes the definition from the module where the row injects something (cards, a sandbox's answer). */
  definition?(module: JsonObject, row: FixtureRow): unknown;
  /** Further servers the environment calls, besides judge, genrm and policy_model. */
  servers?: readonly string[];
  /** Which entry of a keyed `judge_outputs` a call gets. */
  judgeKey?(call: RecordedCall): string;
  /** Expected keys that are not fields of the result, computed from what happened. */
  observe?: Record<string, (body: JsonObject, run: RowServer) => unknown>;
  /** Compares recorded calls where `judge_calls` has a form of its own; returns the difference. */
  judgeCalls?(calls: readonly RecordedCall[], expected: unknown): string | undefined;
  /** Result fields of which fixtures leave parts out, such as times. */
  reduced?: readonly string[];
  /** Result fields that go on with the wording of an exception: their first words are compared. */
  firstWord?: readonly string[];
  /** Result fields that are never compared. */
  ignore?: readonly string[];
  /** Reads a file that is not made of fixture rows. */
  rows?(file: string): Promise<FixtureRow[]>;
  /** Runs a row whose shape is the environment's own; undefined: the general formats apply. */
  run?(row: FixtureRow, environment: Environment): Promise<{ error?: string }> | undefined;
}

/** Environments with odd fixtures, each in a file of its own. */
const loaders: Record<string, () => Promise<Adapter>> = {
  bigcodebench: async () => (await import("./adapter-bigcodebench.ts")).adapter,
  blackjack: async () => (await import("./adapter-blackjack.ts")).adapter,
  code_fim: async () => (await import("./adapter-code-fim.ts")).adapter,
  code_gen: async () => (await import("./adapter-code-gen.ts")).adapter,
  evalplus: async () => ({
    config: (_row, { fixtures }) => ({ dataset: "humaneval", problems_fpath: `${fixtures}/problems.json` }),
  }),
  google_search: async () => (await import("./adapter-google-search.ts")).adapter,
  math_with_autograder: async () => ({ ignore: ["extracted_answer"] }),
  math_with_judge: async () => (await import("./adapter-math-with-judge.ts")).adapter,
  mini_swe_agent: async () => (await import("./adapter-mini-swe-agent.ts")).adapter,
  mini_swe_agent_2: async () => (await import("./adapter-mini-swe-agent-2.ts")).adapter,
  openenv: async () => (await import("./adapter-openenv.ts")).adapter,
  physics_judge: async () => ({ ignore: ["extracted_answer"] }),
  polymath: async () => ({
    // The judge is off in this server's own config.
    config: () => ({ should_use_judge: false }),
    ignore: ["extracted_answer"],
  }),
  swerl_gen: async () => (await import("./adapter-swerl-gen.ts")).adapter,
  ugphysics_judge: async () => ({ ignore: ["extracted_answer"] }),
  workplace_assistant: async () => (await import("./adapter-workplace-assistant.ts")).adapter,
};

export async function loadAdapter(environment: string): Promise<Adapter> {
  return (await loaders[environment]?.()) ?? {};
}
