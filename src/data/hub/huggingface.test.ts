import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HubServer, startHubServer } from "../../../tests/support/hub-server.ts";
import type { HubAccess } from "../remote/hub-access.ts";
import { downloadHubFile, type HubUploadEvent, uploadToHub } from "./huggingface.ts";

const token = "hf_testtoken";
const repository = "acme/Nemotron-RL-math-sums";
const collection = "acme/gym-68a1";
const retries = { attempts: 3, baseDelayMs: 1, maxDelayMs: 2 };
const small = '{"responses_create_params": {"input": "x"}}\n';
const large = small.repeat(200);

let hub: HubServer;
let directory: string;
let access: HubAccess;

beforeEach(async () => {
  hub = await startHubServer({ token });
  hub.collections.set(collection, { slug: collection, items: [] });
  directory = await mkdtemp(path.join(tmpdir(), "gym-hub-"));
  access = { token, hubUrl: hub.url, retries };
});

afterEach(async () => {
  await hub.close();
  await rm(directory, { recursive: true, force: true });
});

async function upload(content: string, options: Partial<Parameters<typeof uploadToHub>[1]> = {}) {
  const file = path.join(directory, "train.jsonl");
  await writeFile(file, content);
  const events: HubUploadEvent[] = [];
  const result = await uploadToHub(access, { repository, collection, file, ...options }, (event) =>
    events.push(event),
  );
  return { result, events: events.map(({ event }) => event), all: events };
}

describe("uploadToHub", () => {
  it("creates a private repository, adds it to the collection and commits a small file", async () => {
    const { result, events } = await upload(small, { commitMessage: "Add sums", commitDescription: "first" });
    const repo = hub.repositories.get(repository);
    expect(repo?.private).toBe(true);
    expect(repo?.read("train.jsonl")).toBe(small);
    expect(repo?.commits).toMatchObject([{ revision: "main", summary: "Add sums", description: "first" }]);
    expect(hub.collections.get(collection)?.items).toEqual([{ type: "dataset", id: repository }]);
    expect(result).toMatchObject({ uploaded: true, repositoryUrl: `${hub.url}/datasets/${repository}` });
    expect(result.commitUrl).toContain("/commit/");
    expect(events).toEqual(["repository-created", "collection-joined", "upload-start", "upload-progress"]);
  });

  it("uploads a large file to the store only once", async () => {
    const { all } = await upload(large);
    expect(hub.repositories.get(repository)?.read("train.jsonl")).toBe(large);
    const progress = all.filter((event) => event.event === "upload-progress");
    expect(progress.at(-1)).toMatchObject({ done: large.length, total: large.length });
    const again = await upload(large);
    expect(again.result.uploaded).toBe(false);
    expect(again.events).toEqual(["repository-found", "collection-joined-before"]);
    const changed = await upload(`${large}${small}`);
    expect(changed.all).toContainEqual({
      event: "upload-start",
      file: "train.jsonl",
      bytes: large.length + small.length,
      replaces: true,
    });
  });

  it("uploads in parts if the store requires it, and retries after an interruption", async () => {
    await hub.close();
    hub = await startHubServer({ token, multipartBytes: 3_000 });
    hub.collections.set(collection, { slug: collection, items: [] });
    access = { ...access, hubUrl: hub.url };
    hub.fail({ match: /PUT \/piece\/[^/]+\/2/, store: true, status: 503 });
    await upload(large);
    expect(hub.repositories.get(repository)?.read("train.jsonl")).toBe(large);
    expect(hub.storeRequests.filter(({ url }) => url.startsWith("/piece/"))).toHaveLength(4);
  });

  it("opens a pull request, even without permission to create the repository", async () => {
    hub.addRepository("others/sums");
    const { result, events } = await upload(small, { repository: "others/sums", createPullRequest: true });
    expect(result.pullRequestUrl).toContain("/datasets/others/sums/discussions/");
    expect(events[0]).toBe("repository-rejected");
    expect(hub.repositories.get("others/sums")?.read("train.jsonl")).toBeUndefined();
    await expect(upload(small, { repository: "others/sums" })).rejects.toMatchObject({
      code: "REMOTE_FORBIDDEN",
      message: expect.stringContaining("don't have the rights to create a dataset"),
    });
  });

  it("commits to a branch, which must exist", async () => {
    hub.addRepository(repository).branch("v2");
    await upload(small, { revision: "v2" });
    expect(hub.repositories.get(repository)?.read("train.jsonl", "v2")).toBe(small);
    expect(hub.repositories.get(repository)?.read("train.jsonl")).toBeUndefined();
    await expect(upload(small, { revision: "nowhere" })).rejects.toMatchObject({
      code: "REMOTE_NOT_FOUND",
      message: expect.stringContaining("Invalid rev id: nowhere"),
    });
  });

  it("waits if the hub is busy", async () => {
    hub.fail({ match: /repos\/create/, status: 429, headers: { "retry-after": "0.01" } });
    hub.fail({ match: /GET \/api\/collections/, status: 500 });
    await upload(small);
    expect(hub.repositories.get(repository)?.read("train.jsonl")).toBe(small);
  });

  it("retries every step, but a commit only if it was rejected", async () => {
    for (const match of [/repos\/create/, /collections\/.*items/, /preupload/, /objects\/batch/])
      for (const status of [500, 503, 429]) hub.fail({ match, status, headers: { "retry-after": "0" } });
    hub.fail({ match: /\/commit\//, status: 503 });
    access = { ...access, retries: { ...retries, attempts: 4 } };
    await upload(large);
    expect(hub.repositories.get(repository)?.commits).toHaveLength(1);
    hub.fail({ match: /\/commit\//, status: 500 });
    await expect(upload(small)).rejects.toMatchObject({ code: "REMOTE_FAILED", status: 500 });
  });

  it("creates no repository if the collection does not exist", async () => {
    await expect(upload(small, { collection: "acme/none-1" })).rejects.toMatchObject({
      code: "REMOTE_NOT_FOUND",
      message: expect.stringMatching(/Collection not found \(collection 'acme\/none-1'\)$/),
    });
    expect(hub.repositories.size).toBe(0);
  });

  it.each([
    ["a rejected token", { token: "hf_wrong" }, "REMOTE_UNAUTHORIZED"],
    ["a token of another kind", { token: "glpat-123456" }, "REMOTE_UNAUTHORIZED"],
  ])("reports %s without showing it", async (_name, change, code) => {
    access = { ...access, ...change };
    const error = await upload(small).catch((caught: Error) => caught);
    expect(error).toMatchObject({ code });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(change.token);
  });

  it("reports an unknown collection and a hub that cannot be reached", async () => {
    await expect(upload(small, { collection: "acme/none" })).rejects.toMatchObject({
      code: "REMOTE_NOT_FOUND",
      message: expect.stringMatching(
        /^404 from 127\.0\.0\.1:\d+: Collection not found \(collection 'acme\/none'\)$/,
      ),
    });
    await hub.close();
    await expect(upload(small)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  });

  it("does not show signed URLs if the store rejects", async () => {
    hub.fail({ match: /PUT/, store: true, status: 403, body: { error: "SignatureDoesNotMatch" }, times: 9 });
    const error = await upload(large).catch((caught: Error) => caught as Error);
    expect(error).toMatchObject({
      code: "REMOTE_FORBIDDEN",
      message: expect.stringContaining("SignatureDoesNotMatch"),
    });
    expect((error as Error).message).not.toContain("s3cr3t");
  });
});

describe("downloadHubFile", () => {
  const target = () => path.join(directory, "got", "data.jsonl");

  it("downloads and verifies small and large files", async () => {
    const repo = hub.addRepository(repository, { private: true });
    repo.put("data/a file.jsonl", small);
    repo.put("big.jsonl", large, { lfs: true });
    const one = await downloadHubFile(access, { repository, path: "data/a file.jsonl" }, target());
    expect(one.checksum?.algorithm).toBe("git-blob");
    const two = await downloadHubFile(access, { repository, path: "big.jsonl" }, target());
    expect(two.checksum?.algorithm).toBe("sha256");
    expect(await readFile(target(), "utf8")).toBe(large);
    expect(hub.storeRequests[0]?.headers.authorization).toBeUndefined();
  });

  it("resumes a large file after an interruption", async () => {
    hub.addRepository(repository).put("big.jsonl", large, { lfs: true });
    hub.fail({ match: /GET/, store: true, breakAfterBytes: 500 });
    await downloadHubFile(access, { repository, path: "big.jsonl" }, target());
    expect(await readFile(target(), "utf8")).toBe(large);
    expect(hub.storeRequests[1]?.headers.range).toBe("bytes=500-");
  });

  it("rejects a corrupted file", async () => {
    hub.addRepository(repository).put("big.jsonl", large, { lfs: true });
    hub.fail({ match: /GET/, store: true, corrupt: true });
    await expect(downloadHubFile(access, { repository, path: "big.jsonl" }, target())).rejects.toMatchObject({
      code: "REMOTE_CHECKSUM_MISMATCH",
    });
  });

  it("reads another revision and reports what is missing", async () => {
    const repo = hub.addRepository(repository, { private: true });
    repo.put("a.jsonl", small, { revision: "refs/pr/1" });
    await downloadHubFile(access, { repository, path: "a.jsonl", revision: "refs/pr/1" }, target());
    expect(await readFile(target(), "utf8")).toBe(small);
    await expect(downloadHubFile(access, { repository, path: "b.jsonl" }, target())).rejects.toThrow(
      "Entry not found",
    );
    await expect(
      downloadHubFile(access, { repository: "acme/no", path: "b" }, target()),
    ).rejects.toMatchObject({
      code: "REMOTE_NOT_FOUND",
    });
    await expect(
      downloadHubFile({ ...access, token: undefined }, { repository, path: "a.jsonl" }, target()),
    ).rejects.toMatchObject({ code: "REMOTE_UNAUTHORIZED" });
  });
});
