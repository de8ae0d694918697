import path from "node:path";
import { installRoot } from "../../../src/config/paths.ts";
import type { GoldenCase } from "../suite.ts";
import type { Environment, RowServer } from "./environment-server.ts";
import type { FixtureRow, JsonObject } from "./rows.ts";
import type { RecordedCall } from "./scripted-servers.ts";

/** Special requirements of the fixtures of one environment. */
export interface Adapter {
  /** Config keys that the fixtures omit. */
  config?(row: FixtureRow, environment: Environment): JsonObject;
  /** Creates the definition from the module if the row injects something (cards, the response of a sandbox). */
  definition?(module: JsonObject, row: FixtureRow): unknown;
  /** Other servers that the environment calls, besides judge, genrm and policy_model. */
  servers?: readonly string[];
  /** Selects the entry of a keyed `judge_outputs` for a call. */
  judgeKey?(call: RecordedCall): string;
  /** Expected keys that are not fields of the result, computed from the recorded calls. */
  observe?: Record<string, (body: JsonObject, run: RowServer) => unknown>;
  /** Compares recorded calls if `judge_calls` has a special format; returns the difference. */
  judgeCalls?(calls: readonly RecordedCall[], expected: unknown): string | undefined;
  /** Result fields of which fixtures omit parts, such as times. */
  reduced?: readonly string[];
  /** Result fields that end with the text of an exception: only their first words are compared. */
  firstWord?: readonly string[];
  /** Result fields that are never compared. */
  ignore?: readonly string[];
  /** Reads a file that does not consist of fixture rows. */
  rows?(file: string): Promise<FixtureRow[]>;
  /** Returns how to run a row with a special format of the environment; undefined if the general formats apply. */
  caseOf?(row: FixtureRow, environment: Environment): GoldenCase["run"] | undefined;
}

/** Environments with special fixtures, each in a separate file. */
const loaders: Record<string, () => Promise<Adapter>> = {
  bigcodebench: async () => (await import("./adapter-bigcodebench.ts")).adapter,
  blackjack: async () => (await import("./adapter-blackjack.ts")).adapter,
  code_fim: async () => (await import("./adapter-code-fim.ts")).adapter,
  // Fixtures omit times and tracebacks.
  code_gen: async () => ({ reduced: ["metadata"] }),
  evalplus: async () => ({
    config: (_row, { fixtures }) => ({ dataset: "humaneval", problems_fpath: `${fixtures}/problems.json` }),
  }),
  // Fixtures omit the keys, which verification does not need.
  google_search: async () => ({ config: () => ({ google_api_key: "unused", google_cx: "unused" }) }),
  math_with_autograder: async () => ({ ignore: ["extracted_answer"] }),
  math_with_judge: async () => (await import("./adapter-math-with-judge.ts")).adapter,
  mini_swe_agent: async () => (await import("./adapter-mini-swe-agent.ts")).adapter,
  mini_swe_agent_2: async () => (await import("./adapter-mini-swe-agent-2.ts")).adapter,
  openenv: async () => (await import("./adapter-openenv.ts")).adapter,
  physics_judge: async () => ({ ignore: ["extracted_answer"] }),
  polymath: async () => ({
    // The config of this server disables the judge.
    config: () => ({ should_use_judge: false }),
    ignore: ["extracted_answer"],
  }),
  swerl_gen: async () => (await import("./adapter-swerl-gen.ts")).adapter,
  ugphysics_judge: async () => ({ ignore: ["extracted_answer"] }),
  // The fixtures use separate databases, which are next to the repository.
  workplace_assistant: async () => ({
    config: () => ({
      csv_data_dir: path.join(installRoot(), "../shared/fixtures/workplace_assistant/csv_data"),
    }),
  }),
};

export async function loadAdapter(environment: string): Promise<Adapter> {
  return (await loaders[environment]?.()) ?? {};
}
