import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { captureRun } from "../../../tests/support/captured-run.ts";

const config = `sums:
  resources_servers:
    sums: {entrypoint: app.py, domain: math}
sums_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      datasets:
      - {name: train, type: train, license: MIT, jsonl_fpath: train.jsonl,
         source: {type: huggingface, repo_id: acme/sums, artifact_fpath: train.jsonl}}
`;
const upload = "dataset upload -i rows.jsonl --name sums +resource_config_path=sums.yaml";
const download = "dataset download --repo-id acme/sums --artifact train.jsonl -o got.jsonl";
const files = ["env.yaml", "rows.jsonl", "sums.yaml"];

let cwd: string;
let server: Server;
let requests: string[];

beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), "gym-dataset-answers-"));
  requests = [];
  server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<html>Sign in</html>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await writeFile(path.join(cwd, "sums.yaml"), config);
  await writeFile(path.join(cwd, "rows.jsonl"), '{"responses_create_params": {"input": "a"}}\n');
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(cwd, { recursive: true, force: true });
});

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function gym(words: string, endpoint: string) {
  const lines = [
    "hf_token: hf_abcdef",
    `hf_endpoint: ${endpoint}`,
    "hf_organization: acme",
    "hf_collection_name: Gym Data",
    "hf_collection_slug: 68a1",
    `mlflow_tracking_uri: ${endpoint}`,
    "mlflow_tracking_token: glpat-abc",
  ];
  await writeFile(path.join(cwd, "env.yaml"), lines.join("\n"));
  return captureRun(words.split(" "), { cwd });
}

describe("a hub that answers with a web page", () => {
  it.each([
    download,
    "dataset download --repo-id acme/sums --split train -o got.jsonl",
    "dataset download --repo-id acme/sums --output-dir .",
    "dataset collate --config sums.yaml --mode train_preparation --output-dir out --download",
    upload,
  ])("is distinguished from data by %s", async (words) => {
    const { exitCode, stderr } = await gym(words, address());
    expect(exitCode).toBe(1);
    expect(stderr).toContain("answered with a web page instead of data");
    expect(stderr).not.toMatch(/ at .*\(|SyntaxError/);
    expect(await readdir(cwd)).toEqual(files);
  });
});

describe("an invalid address", () => {
  it.each(["notaurl", "huggingface.co", "ftp://a.example", "http://"])(
    "is rejected immediately: %s",
    async (endpoint) => {
      for (const words of [download, upload]) {
        expect(await gym(words, endpoint)).toMatchObject({
          exitCode: 1,
          stderr: expect.stringContaining(
            `Error: '${endpoint}' (hf_endpoint or HF_ENDPOINT) is not an address; it must look like https://huggingface.co.`,
          ),
        });
      }
      expect(await gym("dataset rm --name sums", endpoint)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(`'${endpoint}' (mlflow_tracking_uri or MLFLOW_TRACKING_URI)`),
      });
      expect(await readdir(cwd)).toEqual(files);
    },
  );
});

describe("invalid requests", () => {
  it.each([
    ["--repo-id ../../x/y --split train -o a.jsonl", "'../../x/y' is not a repository"],
    ["--repo-id acme --split train -o a.jsonl", "'acme' is not a repository"],
    [
      "--repo-id acme/sums --artifact ../../../etc/passwd -o a.jsonl",
      "'../../../etc/passwd' (artifact_fpath",
    ],
    [
      "--repo-id acme/sums --artifact a.jsonl -o out",
      "The output 'out' is a directory; name a file, or give",
    ],
    ["--repo-id acme/sums --split train -o out", "The output 'out' is a directory"],
    ["--repo-id acme/sums --split train -o new/", "The output 'new/' is a directory"],
    ["--storage gitlab --name s --revision 1 --artifact ../x -o a.jsonl", "'../x' (artifact_fpath"],
    ["--storage gitlab --name s --revision 1 --artifact x -o out", "The output 'out' is a directory"],
  ])("are rejected before any request: %s", async (words, message) => {
    await mkdir(path.join(cwd, "out"));
    const run = await gym(`dataset download ${words}`, address());
    expect(run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(message) });
    expect(requests).toEqual([]);
    expect(await readdir(cwd)).toEqual([...files, "out"].sort());
  });
});
