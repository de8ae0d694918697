import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FaultServer } from "../../../tests/support/fault-server.ts";
import { type MlflowServer, startMlflowServer } from "../../../tests/support/mlflow-server.ts";
import {
  deleteFromRegistry,
  downloadFromRegistry,
  isInRegistry,
  type RegistryAccess,
  uploadToRegistry,
} from "./gitlab.ts";

const token = "glpat-testtoken";
const retries = { attempts: 3, baseDelayMs: 1, maxDelayMs: 2 };
const rows = '{"responses_create_params": {"input": "é"}}\n'.repeat(5000);

let registry: MlflowServer;
let directory: string;
let access: RegistryAccess;
let file: string;

beforeEach(async () => {
  registry = await startMlflowServer({ token });
  directory = await mkdtemp(path.join(tmpdir(), "gym-registry-"));
  access = { trackingUri: registry.trackingUri, token, retries };
  file = path.join(directory, "train.jsonl");
  await writeFile(file, rows);
});

afterEach(async () => {
  await registry.close();
  await rm(directory, { recursive: true, force: true });
});

const upload = (options: Partial<Parameters<typeof uploadToRegistry>[1]> = {}) =>
  uploadToRegistry(access, { datasetName: "sums", version: "0.0.1", file, ...options });
const target = () => path.join(directory, "got", "train.jsonl");
const download = (artifactPath = "train.jsonl", version = "0.0.1") =>
  downloadFromRegistry(access, { datasetName: "sums", version, artifactPath }, target());

describe("uploadToRegistry", () => {
  it("creates dataset and version and uploads the file", async () => {
    const seen: number[] = [];
    await uploadToRegistry(access, { datasetName: "sums", version: "0.0.1", file }, ({ done }) =>
      seen.push(done),
    );
    expect(registry.readFile("sums", "0.0.1", "train.jsonl")).toBe(rows);
    expect(seen.at(-1)).toBe(Buffer.byteLength(rows));
    expect(registry.models.get("sums")?.[0]?.tags).toEqual([{ key: "gitlab.version", value: "0.0.1" }]);
  });

  it("adds to an existing version and replaces a file only with overwrite", async () => {
    registry.addFile("sums", "0.0.1", "other.jsonl", "x");
    await upload();
    await expect(upload()).rejects.toMatchObject({
      code: "DATASET_REMOTE_EXISTS",
      message: expect.stringContaining("'train.jsonl' is already part of version 0.0.1 of 'sums'"),
    });
    await writeFile(file, "changed\n");
    await upload({ overwrite: true });
    expect(registry.readFile("sums", "0.0.1", "train.jsonl")).toBe("changed\n");
    expect(registry.models.get("sums")).toHaveLength(1);
  });

  it("retries after an interruption", async () => {
    registry.fail({ match: /PUT/, status: 502 });
    await upload();
    expect(registry.readFile("sums", "0.0.1", "train.jsonl")).toBe(rows);
  });

  it("reports errors of the registry without the key", async () => {
    await expect(upload({ version: "one" })).rejects.toThrow("Version must be semantic version");
    access = { ...access, token: "glpat-wrong-token" };
    const error = await upload().catch((caught: Error) => caught);
    expect(error).toMatchObject({ code: "REMOTE_UNAUTHORIZED" });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("glpat-wrong-token");
  });

  it("does not treat every conflict as an existing dataset", async () => {
    registry.fail({ match: /registered-models\/create/, status: 403, body: { message: "403 Forbidden" } });
    await expect(upload()).rejects.toMatchObject({ code: "REMOTE_FORBIDDEN" });
  });

  it("reports an address that returns a web page", async () => {
    const page = new FaultServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>");
    });
    await page.start();
    access = { ...access, trackingUri: page.url };
    await expect(upload()).rejects.toThrow("did not answer with JSON; is mlflow_tracking_uri right?");
    await page.close();
  });
});

describe("downloadFromRegistry", () => {
  it("downloads a file regardless of surrounding slashes", async () => {
    registry.addFile("sums", "0.0.1", "deep/train.jsonl", rows);
    access = { ...access, trackingUri: `${registry.trackingUri}/` };
    await download("/deep/train.jsonl");
    expect(await readFile(target(), "utf8")).toBe(rows);
  });

  it("resumes after an interruption", async () => {
    registry.addFile("sums", "0.0.1", "train.jsonl", rows);
    registry.fail({ match: /GET .*packages/, breakAfterBytes: 1000 });
    await download();
    expect(await readFile(target(), "utf8")).toBe(rows);
    expect(registry.requests.at(-1)?.headers.range).toBe("bytes=1000-");
  });

  it("never saves an error page", async () => {
    registry.addFile("sums", "0.0.1", "train.jsonl", rows);
    await expect(download("none.jsonl")).rejects.toThrow("Version 0.0.1 of 'sums' has no file 'none.jsonl'.");
    await expect(download("train.jsonl", "9.9.9")).rejects.toMatchObject({
      code: "DATASET_MISSING",
      message: "The registry has no version '9.9.9' of a dataset 'sums'.",
    });
    expect(existsSync(target())).toBe(false);
  });
});

describe("isInRegistry and deleteFromRegistry", () => {
  it("compare the exact name", async () => {
    registry.addFile("sums", "0.0.1", "train.jsonl", rows);
    expect(await isInRegistry(access, "sums")).toBe(true);
    expect(await isInRegistry(access, "Sums")).toBe(false);
    await deleteFromRegistry(access, "sums");
    expect(await isInRegistry(access, "sums")).toBe(false);
    await expect(deleteFromRegistry(access, "sums")).rejects.toMatchObject({ code: "REMOTE_NOT_FOUND" });
  });

  it("do not treat a refusal as a missing dataset", async () => {
    registry.fail({ match: /registered-models\/get/, status: 403, body: { message: "403 Forbidden" } });
    await expect(isInRegistry(access, "sums")).rejects.toMatchObject({ code: "REMOTE_FORBIDDEN" });
  });
});
