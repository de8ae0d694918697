import { readdirSync } from "node:fs";
import path from "node:path";
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
  /** The result in the form of the fixtures, if they keep something as a number or a text. */
  comparable?(body: JsonObject): JsonObject;
  /** Result fields of which fixtures omit parts, such as times. */
  reduced?: readonly string[];
  /** Result fields that end with the text of an exception: only their first words are compared. */
  firstWord?: readonly string[];
  /** Result fields that fixtures omit. */
  unlisted?: readonly string[];
  /** Result fields that are never compared. */
  ignore?: readonly string[];
  /** Reads a file that does not consist of fixture rows. */
  rows?(file: string): Promise<FixtureRow[]>;
  /** Returns how to run a row with a special format of the environment; undefined if the general formats apply. */
  caseOf?(row: FixtureRow, environment: Environment): GoldenCase["run"] | undefined;
}

const adapterFiles = readdirSync(path.join(import.meta.dirname, "adapters"));

/** The adapter in `adapters/<environment>.ts`, for environments whose fixtures need one. */
export async function loadAdapter(environment: string): Promise<Adapter> {
  const file = adapterFiles.find((name) => /\.[jt]s$/.test(name) && path.parse(name).name === environment);
  if (!file) return {};
  const { adapter } = (await import(`./adapters/${file}`)) as { adapter: Adapter };
  return adapter;
}
