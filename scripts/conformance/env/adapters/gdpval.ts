import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createTestServer } from "../../../../src/testing/index.ts";
import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { definitionOf, type Environment } from "../environment-server.ts";
import { installConfig } from "../fixture-config.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";
import { messagesOf } from "../scripted-servers.ts";
import { crashDifference } from "../verify-case.ts";

const OMITTED =
  /^(responses_create_params|response|instance_config|_ng_.*|mask_sample|failure_kind|failure_reason|deliverables_dir)$/;

async function store(folder: string, files: unknown): Promise<void> {
  for (const [name, content] of Object.entries(isObject(files) ? files : {})) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    const bytes = isObject(content) ? Buffer.from(String(content["base64"]), "base64") : String(content);
    await writeFile(file, bytes);
  }
}

/** Text, null (a reply without a text), or an error of the client. */
function reply(entry: unknown): unknown {
  if (isObject(entry) && typeof entry["error"] === "string") throw new Error(entry["error"]);
  return {
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: entry ?? null } }],
  };
}

async function runVerify(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), "gym-conformance-"));
  const models = { ...(isObject(row.config?.["reference_models"]) ? row.config["reference_models"] : {}) };
  for (const [id, files] of Object.entries(isObject(row["reference_files"]) ? row["reference_files"] : {})) {
    await store(path.join(folder, "references", id), files);
    models[id] = { ...(models[id] as JsonObject), deliverables_dir: path.join(folder, "references", id) };
  }
  for (const [id, model] of Object.entries(models))
    models[id] = { deliverables_dir: path.join(folder, "none", id), ...(model as JsonObject) };
  await store(path.join(folder, "own"), row["files"]);
  const config = {
    judge_retry_delay_factor: 0,
    ...row.config,
    ...(Object.keys(models).length > 0 && { reference_models: models }),
  };
  const installed = await installConfig(config);
  const outputs = Array.isArray(row["judge_outputs"]) ? [...row["judge_outputs"]] : [];
  const calls: JsonObject[] = [];
  const judge = (name: string) => (_path: string, body: unknown) => {
    const sent = isObject(body) ? body : {};
    const { model, max_tokens, temperature } = sent;
    const roles = messagesOf({ server: name, path: "", body: sent }).map(({ role }) => role);
    const keys = Object.keys(sent)
      .filter((key) => key !== "messages")
      .sort();
    calls.push({
      base_url: `http://${name}/v1`,
      model,
      keys,
      roles,
      temperature: temperature ?? null,
      max_tokens,
    });
    return reply(outputs.shift());
  };
  const server = await createTestServer(definitionOf(environment, row), {
    config: installed.config,
    directory: environment.directory,
    servers: { judge: judge("judge"), other: judge("other") },
  });
  try {
    const request = isObject(row["request"]) ? row["request"] : {};
    const given =
      row["files"] === undefined ? request : { ...request, deliverables_dir: path.join(folder, "own") };
    const { status, body } = await server.post("/verify", given);
    const { status: wanted, echoed_fields: _, judge_calls, ...fields } = row.expected;
    if (wanted === 500) return crashDifference({ status, body });
    if (status !== wanted) return `status: ${status} ${show(body)}`;
    const actual = Object.fromEntries(Object.entries(body).filter(([key]) => !OMITTED.test(key)));
    return (
      difference(actual, fields, "body", { relative: 1e-12, subset: true }) ??
      difference(calls, judge_calls ?? [], "judge_calls")
    );
  } finally {
    await server.close();
    await installed.remove();
    await rm(folder, { recursive: true });
  }
}

async function runMetrics(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const server = await createTestServer(definitionOf(environment, row), {
    config: row.config ?? {},
    directory: environment.directory,
    servers: { judge: () => ({}) },
  });
  try {
    // Rows of two stages have the same indices; a run here has each index once.
    const verify_responses = rowsOf(row["verify_responses"]).map((each, _ng_rollout_index) => ({
      ...each,
      _ng_rollout_index,
    }));
    const { body } = await server.post("/aggregate_metrics", { verify_responses });
    const isOurs = ([name]: [string, unknown]) => name.startsWith("comparison/");
    const metrics = Object.fromEntries(Object.entries(body.agent_metrics as object).filter(isOurs));
    const key = Object.entries(body.key_metrics as object)
      .filter(isOurs)
      .map(([name]) => name)
      .sort();
    return (
      difference(metrics, row.expected["comparison_metrics"], "metrics", { relative: 1e-9 }) ??
      difference(key, row.expected["key_metrics_comparison"], "key_metrics")
    );
  } finally {
    await server.close();
  }
}

async function runUnit(row: FixtureRow): Promise<string | undefined> {
  const load = async (name: string) =>
    (await import(`../../../../resources_servers/gdpval/${name}.js`)) as Record<
      string,
      (...given: unknown[]) => unknown
    >;
  const [elo, panel, rubric, stages, metrics] = await Promise.all(
    ["elo", "panel", "rubric", "stages", "metrics"].map(load),
  );
  const text = row["text"];
  const asList = (rating: unknown) => (isObject(rating) ? [rating["elo"], rating["normalized"]] : null);
  const battle = ([strength, wins, losses, ties]: number[]) => ({ elo: strength, wins, losses, ties });
  const run: Record<string, () => unknown> = {
    calculate_elo: () => asList(elo?.["eloOf"]?.(row["win_rate"], row["reference_elo"])),
    calculate_mle_elo: () => asList(elo?.["mostLikelyElo"]?.((row["battles"] as number[][]).map(battle))),
    make_rng: () => {
      const random = panel?.["randomFor"]?.(row["seed"], row["parts"]) as { random(): number };
      return { first_three_random: [random.random(), random.random(), random.random()] };
    },
    select_references: () =>
      stages?.["selectReferences"]?.(row["reference_elos"], row["eval_elo"], row["num_models"]),
    assign_task_references: () => {
      const seeds = { seed: row["seed"], stageSeed: row["stage_seed"], stage: row["stage_index"] };
      return stages?.["assignReferences"]?.(row["task_ids"], row["reference_ids"], seeds);
    },
    all_task_ids: () => stages?.["allTaskIds"]?.(row["distribution"]),
    pool_per_reference: () => {
      const battles = metrics?.["battlesOf"]?.(row["verify_responses"], new Map()) as Map<string, JsonObject>;
      const pooled = [...battles].map(([id, { elo: reference_elo, ...votes }]) => [
        id,
        { ...votes, reference_elo },
      ]);
      return Object.fromEntries(pooled);
    },
    parse_structured_score: () => rubric?.["structuredScore"]?.(text),
    score_from_truncated_json: () => rubric?.["scoreOfTruncated"]?.(text),
  };
  return difference(run[String(row["kind"])]?.(), row.expected["value"], String(row["kind"]), {
    relative: 1e-12,
  });
}

/** Rows of helpers expect a plain value. */
async function readFixtures(file: string): Promise<FixtureRow[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const row = JSON.parse(line) as FixtureRow;
    return row["kind"] === undefined ? row : { ...row, expected: { value: row.expected } };
  });
}

export const adapter: Adapter = {
  rows: readFixtures,
  caseOf: (row, environment) => () => {
    if (row["kind"] !== undefined) return runUnit(row);
    return rowsOf(row["verify_responses"]).length > 0
      ? runMetrics(row, environment)
      : runVerify(row, environment);
  },
};
