import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { GymError } from "../../src/base/errors.ts";
import { loadPromptConfig } from "../../src/data/prompt-config.ts";
import { artifactPaths } from "../../src/records/files/artifact-paths.ts";
import { readRows } from "../../src/records/files/jsonl-rows.ts";
import { keyOfRow } from "../../src/records/files/row-key.ts";
import { type ExpandOptions, materializeInputs } from "../../src/run/inputs/expand.ts";
import type { RepeatsSetting } from "../../src/run/inputs/repeats.ts";
import { loadSkills } from "../../src/run/inputs/skills.ts";
import { maxAttemptsFrom, missingForResume, planResume } from "../../src/run/resume/resume.ts";
import { inDirectory, writeFiles } from "./case-directory.ts";
import { difference } from "./difference.ts";
import type { Suite } from "./suite.ts";

type Json = Record<string, unknown>;

interface Case {
  id: string;
  op: "expand" | "resume";
  input: { files: Record<string, string>; config: Json; max_attempts_env?: string };
  expected?: Json;
  expected_error?: unknown;
}

export const suite: Suite = async (file) => {
  const { cases } = JSON.parse(await readFile(file, "utf8")) as { cases: Case[] };
  return cases.map((golden) => ({ id: golden.id, run: () => inDirectory((path) => runCase(golden, path)) }));
};

async function runCase(golden: Case, directory: string): Promise<string | undefined> {
  await writeFiles(directory, golden.input.files);
  try {
    const actual = await (golden.op === "resume" ? resume(golden, directory) : expand(golden, directory));
    if (golden.expected_error !== undefined)
      return `was accepted; expected ${JSON.stringify(golden.expected_error)}`;
    return difference(actual, golden.expected);
  } catch (error) {
    if (!(error instanceof GymError)) return `threw ${String(error)}, not an error of ours`;
    return golden.expected_error === undefined ? `threw ${error.message}` : undefined;
  }
}

async function expand(golden: Case, directory: string): Promise<Json> {
  const paths = artifactPaths(join(directory, outputOf(golden.input.config)));
  await materializeInputs(await expandOptions(golden.input.config, directory), paths.materializedInputs);
  const rows: Json[] = [];
  for await (const { row } of readRows(paths.materializedInputs)) rows.push(row);
  return { rows, materialized_path: relative(directory, paths.materializedInputs) };
}

async function resume(golden: Case, directory: string): Promise<Json> {
  const paths = artifactPaths(join(directory, outputOf(golden.input.config)));
  if ((await missingForResume(paths)).length > 0) return expand(golden, directory);
  const plan = await planResume(paths, { maxAttempts: maxAttemptsFrom(golden.input.max_attempts_env) });
  const rows: Json[] = [];
  for await (const { row } of plan.rows()) rows.push(row);
  const done: [number, number][] = [];
  for await (const { row } of readRows(paths.output)) {
    const key = keyOfRow(row);
    if (key && plan.isDone(key.taskIndex, key.rolloutIndex)) done.push([key.taskIndex, key.rolloutIndex]);
  }
  return { to_run: rows, already_done_keys: done };
}

function outputOf(config: Json): string {
  return String(config["output_jsonl_fpath"] ?? "res/out.jsonl");
}

async function expandOptions(config: Json, directory: string): Promise<ExpandOptions> {
  const prompt = config["prompt_config"];
  const skills = (config["skills"] as Json | undefined)?.["path"];
  return {
    inputPath: join(directory, String(config["input_jsonl_fpath"] ?? "in.jsonl")),
    agentName: (config["agent_name"] ?? null) as string | null,
    limit: (config["limit"] ?? null) as number | null,
    repeats: (config["num_repeats"] === undefined ? 1 : config["num_repeats"]) as RepeatsSetting,
    addSeed: config["num_repeats_add_seed"] === true,
    overrides: (config["responses_create_params"] ?? {}) as Json,
    ...(typeof prompt === "string" && { promptConfig: await loadPromptConfig(join(directory, prompt)) }),
    ...(typeof skills === "string" && { skills: await loadSkills(join(directory, skills), skills) }),
  };
}
