import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { project, runGym } from "./gym-process.ts";
import { type HubServer, startHubServer } from "./support/hub-server.ts";
import { type MlflowServer, startMlflowServer } from "./support/mlflow-server.ts";

const row = (input: string) => `{"responses_create_params": {"input": "${input}"}}\n`;
const CONFIG = `sums:
  resources_servers:
    sums: {entrypoint: app.py, domain: math}
sums_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      datasets:
      - {name: example, type: example, jsonl_fpath: data/example.jsonl}
      - name: train
        type: train
        license: MIT
        jsonl_fpath: data/train.jsonl
        source: {type: huggingface, repo_id: acme/sums, split: train}
`;

let hub: HubServer;
let registry: MlflowServer;

beforeEach(async () => {
  hub = await startHubServer({ token: "hf_secret" });
  registry = await startMlflowServer({ token: "glpat-secret" });
  hub.collections.set("acme/gym-data-68a1", { slug: "acme/gym-data-68a1", items: [] });
});
afterEach(() => Promise.all([hub.close(), registry.close()]));

function files() {
  return project({
    "sums.yaml": CONFIG,
    "resources_servers/sums/configs/sums.yaml": CONFIG,
    "data/example.jsonl": row("a") + row("b"),
    "env.yaml": [
      "hf_token: hf_secret",
      `hf_endpoint: ${hub.url}`,
      "hf_organization: acme",
      "hf_collection_name: Gym Data",
      "hf_collection_slug: 68a1",
      `mlflow_tracking_uri: ${registry.trackingUri}`,
      "mlflow_tracking_token: glpat-secret",
    ].join("\n"),
  });
}

// The built program, because its signal is part of every request; within the test process there is no such signal.
it("uploads, migrates and downloads from the command line", async () => {
  const cwd = await files();
  const config = "+resource_config_path=resources_servers/sums/configs/sums.yaml";
  const uploaded = await runGym(["dataset", "upload", "-i", "data/example.jsonl", config], { cwd });
  expect(uploaded, uploaded.stderr).toMatchObject({ exitCode: 0 });
  expect([...hub.repositories.keys()]).toHaveLength(1);

  const gitlab = ["--storage", "gitlab", "--name", "sums", "--revision", "0.0.1"];
  expect((await runGym(["dataset", "upload", "-i", "data/example.jsonl", ...gitlab], { cwd })).exitCode).toBe(
    0,
  );

  const moved = await runGym(
    ["dataset", "migrate", "-i", "data/example.jsonl", "--name", "sums", config, "--yes"],
    {
      cwd,
    },
  );
  expect(moved, moved.stderr).toMatchObject({ exitCode: 0 });
  const split = hub.addRepository("acme/sums", { private: true });
  split.put("train.jsonl", row("from the hub"));
  const words = ["dataset", "download", "--repo-id", "acme/sums", "--split", "train", "-o", "got.jsonl"];
  const got = await runGym(words, { cwd });
  expect(got, got.stderr).toMatchObject({ exitCode: 0 });
  expect(await readFile(path.join(cwd, "got.jsonl"), "utf8")).toContain("from the hub");
});

it("downloads missing files and collates them", async () => {
  const cwd = await files();
  hub.addRepository("acme/sums", { private: true }).put("train.jsonl", row("from the hub"));
  const words = ["dataset", "collate", "--config", "sums.yaml", "--mode", "train_preparation"];
  const collated = await runGym([...words, "--output-dir", "out", "--download"], { cwd });
  expect(collated, collated.stderr).toMatchObject({ exitCode: 0 });
  expect(await readFile(path.join(cwd, "out/train.jsonl"), "utf8")).toContain("from the hub");
});
