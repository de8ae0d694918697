import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  compareManifest,
  createManifest,
  digestFile,
  judgesOfConfig,
  readManifest,
  writeManifest,
} from "./manifest.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "manifest-"));
});
afterEach(() => rm(directory, { recursive: true }));

const input = { path: "in.jsonl", bytes: 10, sha256: "aa" };
const materialized = { path: "out_materialized_inputs.jsonl", bytes: 20, sha256: "bb", rows: 4, tasks: 2 };
const config = { agent_name: "bob", responses_create_params: { temperature: 0.5 }, policy_api_key: "sk-1" };
const manifest = createManifest({
  createdAt: new Date(0),
  gymVersion: "1.2.3",
  input,
  materializedInputs: materialized,
  config,
});

describe("the run manifest", () => {
  it("survives a round trip and contains no secrets", async () => {
    const path = join(directory, "m.json");
    await writeManifest(path, manifest);
    expect(await readManifest(path)).toEqual(manifest);
    expect(await readFile(path, "utf8")).not.toContain("sk-1");
    expect(await readManifest(join(directory, "none.json"))).toBeUndefined();
  });

  it("names who judges", () => {
    const servers = {
      policy_model: { type: "responses_api_models", openai_model: "small" },
      judge_model: { type: "responses_api_models", openai_model: "large" },
      essays: {
        type: "resources_servers",
        judge_model_server: { type: "responses_api_models", name: "judge_model" },
        simulator_model_server: { type: "responses_api_models", name: "policy_model" },
      },
      quiz: { type: "resources_servers", judge_model_server: "policy_model", judge_votes: 3 },
    };
    expect(judgesOfConfig({ servers })).toEqual([
      { environment: "essays", key: "judge_model_server", server: "judge_model", model: "large" },
      { environment: "quiz", key: "judge_model_server", server: "policy_model", model: "small" },
    ]);
    expect(manifest.judges).toEqual([]);
  });

  it("rejects other files", async () => {
    await writeFile(join(directory, "m.json"), '{"schema_version": 1}');
    await expect(readManifest(join(directory, "m.json"))).rejects.toMatchObject({
      code: "ROLLOUT_MANIFEST_INVALID",
    });
    await writeFile(join(directory, "m.json"), "{");
    await expect(readManifest(join(directory, "m.json"))).rejects.toMatchObject({
      code: "ROLLOUT_MANIFEST_INVALID",
    });
  });

  it("reports no difference for the same run, even with another key", () => {
    const current = {
      input,
      materializedInputs: materialized,
      config: { ...config, policy_api_key: "sk-2" },
    };
    expect(compareManifest(manifest, current)).toEqual([]);
    expect(compareManifest(manifest, {})).toEqual([]);
  });

  it("describes the differences", () => {
    expect(
      compareManifest(
        { ...manifest, schema_version: 9 },
        {
          input: { ...input, sha256: "cc", bytes: 11 },
          materializedInputs: { ...materialized, sha256: "dd" },
          config: { agent_name: "eve", responses_create_params: { top_p: 1 }, policy_api_key: "" },
        },
      ),
    ).toEqual([
      "its files have schema version 9, this program writes 1",
      "the input 'in.jsonl' has changed (10 bytes then, 11 now)",
      "the materialized inputs 'out_materialized_inputs.jsonl' were changed after the run began (20 bytes then, 20 now)",
      'agent_name was "bob", is "eve"',
      "responses_create_params.temperature was 0.5, is not set",
      "responses_create_params.top_p was not set, is 1",
      'policy_api_key was "****", is ""',
    ]);
    expect(compareManifest(manifest, { input: null })).toEqual(["the input was in.jsonl, is none"]);
    expect(compareManifest(manifest, { input: { path: "b", bytes: 1, sha256: "x" } })).toEqual([
      "the input was 'in.jsonl', is 'b', and they differ",
    ]);
  });

  it("distinguishes long values with the same beginning", () => {
    const long = (end: string) => ({ config: { text: "x".repeat(500) + end } });
    const before = createManifest({
      createdAt: new Date(0),
      gymVersion: "1",
      input,
      materializedInputs: materialized,
      ...long("a"),
    });
    expect(compareManifest(before, long("a"))).toEqual([]);
    expect(compareManifest(before, long("b"))).toHaveLength(1);
  });

  it("digests files", async () => {
    await writeFile(join(directory, "f"), "abc");
    expect(await digestFile(join(directory, "f"))).toEqual({
      path: join(directory, "f"),
      bytes: 3,
      sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    });
    await expect(digestFile(join(directory, "none"))).rejects.toMatchObject({ code: "ROLLOUT_FILE_MISSING" });
  });
});
