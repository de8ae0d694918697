import { createHash } from "node:crypto";
import { errorMessage } from "../../base/errors.ts";
import { PositionRanges } from "../../base/files/door.ts";
import { copyWith, dumps, dumpsCompact, isObject, loads } from "../../base/python/json/door.ts";
import { applyPromptConfig, hasPopulatedInput, type PromptConfig } from "../../data/light-door.ts";
import { invalidRow, RolloutError } from "../../records/errors.ts";
import {
  agentNameOf,
  givenTaskIndex,
  type ImageForm,
  type JsonlLine,
  LineNumbering,
  type Row,
  readRows,
  storeImages,
  writeFileAtomically,
} from "../../records/files/door.ts";
import { isTaskRow } from "../../wire/door.ts";
import { AgentCheck } from "./agent-check.ts";
import { Repeats, type RepeatsSetting } from "./repeats.ts";
import { type Routing, routeRow } from "./route.ts";
import type { SkillsReference } from "./skills.ts";
import { TaskNumberMap } from "./task-number-map.ts";
import { overrideTexts, type TextOverrides } from "./text-overrides.ts";

/** Maximum number of ranges of rows that an error names. */
const MAX_RANGES = 200;

export type RepeatOrder = "depth" | "breadth";

export interface ExpandOptions {
  inputPath: string;
  /** The agent for rows without the key `agent_ref`; a row with `agent_ref: null` does not get it. */
  agentName?: string | null;
  /** Agents by the agent or the `task_source` that rows name, with `_default` for the others. */
  agentMap?: Readonly<Record<string, string>>;
  /** The agents that each run a copy of a row, by the agent or the `task_source` that the row names. */
  fanOut?: Readonly<Record<string, readonly string[]>>;
  /** The agent for rows that name only their `task_source`. */
  agentOfSource?: (source: string) => string | undefined;
  /** The available agents; rows for others are rejected. Default: every name is accepted. */
  knownAgents?: readonly string[];
  /** Which environment server runs each row. Default: that of the row's agent. */
  routing?: Routing;
  /** The current name of a renamed agent. */
  renamedAgent?: (name: string) => string | undefined;
  /** Maximum number of input lines, before repeats; null and 0 mean all. */
  limit?: number | null;
  repeats?: RepeatsSetting;
  /** `breadth`: every task once, then again for the next repeat. Default: `depth`, all repeats of a task together. */
  repeatOrder?: RepeatOrder;
  /** Adds the rollout index as `seed` to each row's `metadata.extra_body`. */
  addSeed?: boolean;
  promptConfig?: PromptConfig;
  skills?: SkillsReference;
  /** Replaces top-level members of each row's `responses_create_params`. */
  overrides?: Readonly<Row>;
  /** Replaces texts in each row's `responses_create_params`. */
  textOverrides?: TextOverrides;
  /** Called for settings that have no effect. */
  onWarning?: (message: string) => void;
  signal?: AbortSignal;
}

/** A row as materialized and sent to the agent, with its input line. */
export interface ExpandedRow {
  row: Row;
  taskIndex: number;
  rolloutIndex: number;
  agent: string;
  /** One-based line in the input file. */
  lineNumber: number;
}

/**
 * Turns an input file into rollouts: agent, overrides, skills, task index, repeats. Streams the file: memory is a few
 * bytes per task. Rows without an agent, rows with an unknown agent, and agents without repeats are reported together
 * after the last line. Numbers and key order are preserved (see json-loads.ts).
 */
export async function* expandRows(options: ExpandOptions): AsyncGenerator<ExpandedRow> {
  const repeats = new Repeats(options.repeats);
  await rejectPopulatedInputs(options);
  const passes = options.repeatOrder === "breadth" ? repeats.most : 1;
  for (let pass = 0; pass < passes; pass++)
    yield* expandOnce(options, repeats, passes === 1 ? undefined : pass);
  repeats.finish(options.onWarning);
}

/** One pass over the file; with `repeat`, only this repeat of each row. */
async function* expandOnce(
  options: ExpandOptions,
  repeats: Repeats,
  repeat: number | undefined,
): AsyncGenerator<ExpandedRow> {
  const numbering = new LineNumbering();
  /** Number of rollouts of each task so far. */
  const rolloutCounts = new TaskNumberMap();
  const withoutAgent = new PositionRanges();
  const agents = new AgentCheck(options.knownAgents, options.agentName);
  for await (const { row: given, line } of inputRows(options)) {
    for (const prepared of copiesFor(prepareRow(given, line, options), given, options)) {
      const row = routed(withCurrentAgent(prepared, options), line, options);
      const agent = agentNameOf(row);
      if (agent === undefined) {
        withoutAgent.add(line.number - 1, 1);
        continue;
      }
      if (!isTaskRow(row) && !agents.accepts(agent, line)) continue;
      const count = repeats.of(...repeatNames(row, agent, basisOf(given)));
      const taskIndex = givenTaskIndex(row, options.inputPath, line) ?? numbering.numberOf(line);
      const first = rolloutCounts.get(taskIndex) ?? 0;
      rolloutCounts.set(taskIndex, first + count);
      for (let rolloutIndex = first; rolloutIndex < first + count; rolloutIndex++) {
        if (repeat !== undefined && rolloutIndex !== first + repeat) continue;
        const emitted = copyWith(row, { _ng_task_index: taskIndex, _ng_rollout_index: rolloutIndex });
        yield {
          row: options.addSeed ? seeded(emitted, rolloutIndex, options.inputPath, line) : emitted,
          taskIndex,
          rolloutIndex,
          agent,
          lineNumber: line.number,
        };
      }
    }
  }
  rejectWithoutAgent(withoutAgent, options.inputPath);
  agents.finish(options.inputPath);
}

/** The rows, tasks and bytes that `materializeInputs` wrote. */
export interface MaterializedInputs {
  rows: number;
  tasks: number;
  bytes: number;
  sha256: string;
}

/** Expands an input file into the materialized inputs file: one rollout per line, compact JSON, written atomically. */
export async function materializeInputs(
  options: ExpandOptions,
  path: string,
  images: ImageForm = "inline",
): Promise<MaterializedInputs> {
  const hash = createHash("sha256");
  const written = { rows: 0, tasks: 0, bytes: 0 };
  async function* lines(): AsyncGenerator<string> {
    for await (const { row, rolloutIndex } of expandRows(options)) {
      written.rows++;
      // Every task has exactly one rollout with index 0.
      if (rolloutIndex === 0) written.tasks++;
      const line = dumpsCompact(row);
      yield `${images === "reference" ? await storeImages(path, line) : line}\n`;
    }
  }
  await writeFileAtomically(path, lines(), {
    onBytes: (chunk) => {
      hash.update(chunk);
      written.bytes += chunk.length;
    },
  });
  return { ...written, sha256: hash.digest("hex") };
}

function inputRows(options: ExpandOptions) {
  const { inputPath, limit, signal } = options;
  return readRows(inputPath, { exact: true, limit: limit ?? 0, signal });
}

/** With a prompt config, no row may have an input. All rows that have one are reported before any row is produced. */
async function rejectPopulatedInputs(options: ExpandOptions): Promise<void> {
  if (!options.promptConfig) return;
  const positions = new PositionRanges();
  for await (const { row, line } of inputRows(options))
    if (hasPopulatedInput(row)) positions.add(line.number - 1, 1);
  if (positions.count === 0) return;
  throw new RolloutError(
    "ROLLOUT_INPUT_POPULATED",
    `The prompt config '${options.promptConfig.path}' would overwrite the input that ${positions.count} rows of ` +
      `'${options.inputPath}' already have, at positions ${positions.text(MAX_RANGES)} (counted from 0). ` +
      "Remove the prompt config or the rows' 'responses_create_params.input'.",
  );
}

function prepareRow(given: Row, line: JsonlLine, options: ExpandOptions): Row {
  if (isTaskRow(given)) return taskRow(given, line, options);
  let row = given;
  if (options.promptConfig) {
    try {
      row = applyPromptConfig(options.promptConfig, row);
    } catch (error) {
      throw invalidRow(
        options.inputPath,
        line,
        `${options.promptConfig.path}: ${errorMessage(error)}`,
        error,
      );
    }
  }
  row = withAgent(row, options);
  const params = row["responses_create_params"];
  if (!isObject(params)) {
    const problem =
      params === undefined
        ? "has no 'responses_create_params'"
        : "has 'responses_create_params' that is not an object";
    throw invalidRow(options.inputPath, line, `the row ${problem}.`);
  }
  const texts = options.textOverrides ? overrideTexts(params, options.textOverrides) : params;
  return copyWith(row, {
    responses_create_params: options.overrides ? copyWith(texts, options.overrides) : texts,
    ...(options.skills && { skills_ref: options.skills }),
  });
}

/** The row with the agent that runs it: that of `agent_map`, or its own, or the chosen one, or that of its task source. */
function withAgent(row: Row, { agentName, agentMap = {}, agentOfSource }: ExpandOptions): Row {
  const source = sourceOf(row);
  const mapped = (name: string | undefined) =>
    name !== undefined && Object.hasOwn(agentMap, name) ? agentMap[name] : undefined;
  const own = agentNameOf(row);
  const stamped = row["_ng_environment_server"] !== undefined;
  const other = stamped ? undefined : (mapped(own) ?? mapped(source) ?? mapped("_default"));
  if (other !== undefined) return referringTo(row, other);
  if (Object.hasOwn(row, "agent_ref")) return row;
  const chosen = agentName ?? (source === undefined ? undefined : agentOfSource?.(source));
  if (!chosen) return row;
  const renamed = mapped(chosen);
  return referringTo(row, renamed ?? chosen);
}

function referringTo(row: Row, agent: string): Row {
  const reference = row["agent_ref"];
  return copyWith(row, { agent_ref: { ...(isObject(reference) && reference), name: agent } });
}

/** The row once for each agent of `fan_out`. Rows that are bound to an environment server stay as they are. */
function copiesFor(row: Row, given: Row, { fanOut = {} }: ExpandOptions): Row[] {
  const basis = basisOf(given);
  if (basis === undefined || isTaskRow(row) || row["_ng_environment_server"] !== undefined) return [row];
  const agents = Object.hasOwn(fanOut, basis) ? fanOut[basis] : undefined;
  return agents?.map((agent) => referringTo(row, agent)) ?? [row];
}

/** The names that `num_repeats` may have for a row, the most specific one first. */
function repeatNames(row: Row, agent: string, basis: string | undefined): [string, ...string[]] {
  const task = row["task_id"];
  const server = row["_ng_environment_server"];
  const bound = typeof server === "string" ? [server] : [];
  if (isTaskRow(row) && isObject(task)) return [String(task["taskset"]), ...bound];
  const source = sourceOf(row);
  return [
    agent,
    ...(basis === undefined ? [] : [basis]),
    ...(source === undefined ? [] : [source]),
    ...bound,
  ];
}

/** What a row of the input names: its agent, or else its task source. */
function basisOf(row: Row): string | undefined {
  return agentNameOf(row) ?? sourceOf(row);
}

function sourceOf(row: Row): string | undefined {
  const source = row["task_source"];
  return typeof source === "string" && source !== "" ? source : undefined;
}

/** The parameters of a task belong to its environment, so no option may change them. */
function taskRow(row: Row, line: JsonlLine, options: ExpandOptions): Row {
  const { promptConfig, skills, overrides, textOverrides, addSeed, inputPath } = options;
  const given = {
    prompt_config: promptConfig,
    skills,
    text_overrides: textOverrides,
    num_repeats_add_seed: addSeed,
  };
  const changing = Object.entries({ ...given, responses_create_params: overrides });
  const refused = changing.flatMap(([key, value]) => (value ? [key] : []));
  if (refused.length === 0) return row;
  throw invalidRow(
    inputPath,
    line,
    `the row is a task of a taskset, which these keys cannot change: ${refused.join(", ")}.`,
  );
}

function routed(row: Row, line: JsonlLine, { routing, inputPath }: ExpandOptions): Row {
  if (routing === undefined) return row;
  try {
    return routeRow(row, routing);
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error;
    throw new RolloutError("ROLLOUT_ROUTING", `${inputPath}:${line.number}: ${errorMessage(error)}`);
  }
}

/** Rows with the old name of an agent use the agent that replaced it. */
function withCurrentAgent(row: Row, { knownAgents, renamedAgent }: ExpandOptions): Row {
  const name = agentNameOf(row);
  if (name === undefined || knownAgents?.includes(name)) return row;
  const renamed = renamedAgent?.(name);
  if (renamed === undefined) return row;
  return copyWith(row, { agent_ref: { ...(row["agent_ref"] as Row), name: renamed } });
}

function seeded(row: Row, seed: number, path: string, line: JsonlLine): Row {
  try {
    return withSeed(row, seed);
  } catch (error) {
    throw invalidRow(path, line, errorMessage(error), error);
  }
}

function rejectWithoutAgent(positions: PositionRanges, path: string): void {
  if (positions.count === 0) return;
  throw new RolloutError(
    "ROLLOUT_ROWS_WITHOUT_AGENT",
    `${positions.count} rows of '${path}' name no agent in 'agent_ref', at positions ${positions.text(MAX_RANGES)} (counted from 0). ` +
      "Name one for rows without the key with --agent (+agent_name=…).",
  );
}

/**
 * A copy of the row whose `responses_create_params.metadata.extra_body`, a JSON text, has the member `seed`. Metadata
 * values are strings, so non-standard parameters are passed to the model server this way.
 */
function withSeed(row: Row, seed: number): Row {
  const params = row["responses_create_params"] as Row;
  const metadata = objectOr(params["metadata"], "metadata");
  const body = bodyOf(metadata["extra_body"]);
  const extraBody = dumps(copyWith(body, { seed }));
  return copyWith(row, {
    responses_create_params: copyWith(params, { metadata: copyWith(metadata, { extra_body: extraBody }) }),
  });
}

function bodyOf(text: unknown): Row {
  if (text === undefined) return {};
  if (typeof text !== "string") throw unusable("'metadata.extra_body' is not a text");
  let body: unknown;
  try {
    body = loads(text, { allowNonFinite: true });
  } catch (error) {
    throw unusable(`'metadata.extra_body' is not JSON: ${errorMessage(error)}`);
  }
  return objectOr(body, "metadata.extra_body");
}

function objectOr(value: unknown, name: string): Row {
  if (value === undefined) return {};
  if (isObject(value)) return value;
  throw unusable(`'${name}' is not an object`);
}

function unusable(problem: string): RolloutError {
  return new RolloutError("ROLLOUT_ROW_INVALID", `no seed can be added: ${problem}.`);
}
