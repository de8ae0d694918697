import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Fault,
  FaultServer,
  Refusal,
  readBody,
  readJsonBody,
  sendBytes,
  sendJson,
} from "./fault-server.ts";
import { gitBlobId, type HubFile, HubRepository, sha256 } from "./hub-repository.ts";

export interface HubServerOptions {
  /** The only accepted token. */
  token?: string;
  /** Namespaces the token may write to. */
  organizations?: string[];
  /** Files of at least this size go to the large file store. */
  lfsFromBytes?: number;
  /** Upload large files in pieces of this size. */
  multipartBytes?: number;
  /** Entries on one page of a file listing. */
  pageSize?: number;
}

export interface HubCollection {
  slug: string;
  items: { type: string; id: string }[];
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
  /** Groups of the route's pattern, decoded. */
  parts: string[];
}

type Route = [method: string, pattern: RegExp, handle: (call: Call) => Promise<void> | void];

/**
 * The part of the Hugging Face hub's HTTP API that dataset transfers use, in memory: repositories, collections, large file
 * uploads, commits and pull requests, listings with pages, downloads that redirect to a store on another origin.
 */
export class HubServer {
  readonly repositories = new Map<string, HubRepository>();
  readonly collections = new Map<string, HubCollection>();
  private readonly objects = new Map<string, Buffer>();
  private readonly pieces = new Map<string, Map<number, Buffer>>();
  private readonly options: Required<HubServerOptions>;
  private readonly hub: FaultServer;
  private readonly store: FaultServer;

  constructor(options: HubServerOptions = {}) {
    this.options = {
      token: "hf_testtoken",
      organizations: ["acme"],
      lfsFromBytes: 1_000,
      multipartBytes: Number.POSITIVE_INFINITY,
      pageSize: 1_000,
      ...options,
    };
    this.hub = new FaultServer((request, response, url) => this.route(request, response, url));
    this.store = new FaultServer((request, response, url) => this.serveStore(request, response, url));
  }

  async start(): Promise<this> {
    await Promise.all([this.hub.start(), this.store.start()]);
    return this;
  }

  async close(): Promise<void> {
    await Promise.all([this.hub.close(), this.store.close()]);
  }

  get url(): string {
    return this.hub.url;
  }

  get requests() {
    return this.hub.requests;
  }

  get storeRequests() {
    return this.store.requests;
  }

  /** Makes a request to the hub itself, or to its store, fail. */
  fail(fault: Fault & { store?: boolean }): void {
    (fault.store ? this.store : this.hub).fail(fault);
  }

  addRepository(id: string, options: { private?: boolean } = {}): HubRepository {
    const repository = new HubRepository(id, options.private ?? false);
    this.repositories.set(id, repository);
    return repository;
  }

  private readonly routes: Route[] = [
    ["POST", /^\/api\/repos\/create$/, (call) => this.createRepository(call)],
    ["GET", /^\/api\/collections\/([^/]+\/[^/]+)$/, (call) => this.readCollection(call)],
    ["POST", /^\/api\/collections\/([^/]+\/[^/]+)\/items$/, (call) => this.addCollectionItem(call)],
    ["POST", /^\/api\/datasets\/([^/]+\/[^/]+)\/preupload\/([^/]+)$/, (call) => this.preupload(call)],
    ["POST", /^\/datasets\/([^/]+\/[^/]+)\.git\/info\/lfs\/objects\/batch$/, (call) => this.lfsBatch(call)],
    ["POST", /^\/api\/datasets\/([^/]+\/[^/]+)\/commit\/([^/]+)$/, (call) => this.commit(call)],
    ["GET", /^\/api\/datasets\/([^/]+\/[^/]+)\/tree\/([^/]+)$/, (call) => this.tree(call)],
    ["GET", /^\/api\/datasets\/([^/]+\/[^/]+)\/parquet$/, (call) => this.parquetListing(call)],
    [
      "GET",
      /^\/api\/datasets\/([^/]+\/[^/]+)\/parquet\/([^/]+)\/([^/]+)\/(\d+)\.parquet$/,
      (c) => this.parquetFile(c),
    ],
    ["GET", /^\/datasets\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/, (call) => this.resolve(call)],
    ["HEAD", /^\/datasets\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/, (call) => this.resolve(call)],
  ];

  private async route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const authorization = request.headers.authorization;
    if (authorization !== undefined && authorization !== `Bearer ${this.options.token}`) {
      throw new Refusal(401, { error: "Invalid credentials in Authorization header" });
    }
    for (const [method, pattern, handle] of this.routes) {
      const match = method === request.method ? pattern.exec(url.pathname) : null;
      if (match === null) continue;
      return handle({
        request,
        response,
        url,
        parts: match.slice(1).map((part) => decodeURIComponent(part)),
      });
    }
    sendJson(response, 404, { error: "Sorry, we can't find the page you are looking for." });
  }

  private isSignedIn({ request }: Call): boolean {
    return request.headers.authorization !== undefined;
  }

  /** The repository of a call; a private one looks absent to others. */
  private repository(call: Call): HubRepository {
    const repository = this.repositories.get(call.parts[0] ?? "");
    if (repository !== undefined && (!repository.private || this.isSignedIn(call))) return repository;
    const status = this.isSignedIn(call) ? 404 : 401;
    const error = status === 404 ? "Repository not found" : "Invalid username or password.";
    throw new Refusal(status, { error }, { "x-error-code": "RepoNotFound", "x-error-message": error });
  }

  private files(call: Call): Map<string, HubFile> {
    const revision = call.parts[1] ?? "main";
    const files = this.repository(call).files(revision);
    if (files !== undefined) return files;
    const error = `Invalid rev id: ${revision}`;
    throw new Refusal(404, { error }, { "x-error-code": "RevisionNotFound", "x-error-message": error });
  }

  private mayWrite(repository: string): boolean {
    return this.options.organizations.includes(repository.split("/")[0] ?? "");
  }

  private async createRepository(call: Call): Promise<void> {
    if (!this.isSignedIn(call)) throw new Refusal(401, { error: "Invalid username or password." });
    const body = await readJsonBody(call.request);
    const id = `${body["organization"]}/${body["name"]}`;
    if (!this.mayWrite(id)) {
      const error = `You don't have the rights to create a ${body["type"]} under the namespace "${body["organization"]}"`;
      throw new Refusal(403, { error });
    }
    const url = `${this.url}/datasets/${id}`;
    if (this.repositories.has(id)) {
      throw new Refusal(409, { error: `You already created this ${body["type"]} repo`, url });
    }
    this.addRepository(id, { private: body["visibility"] === "private" || body["private"] === true });
    sendJson(call.response, 200, { url, id, name: id });
  }

  private readCollection(call: Call): void {
    const collection = this.collections.get(call.parts[0] ?? "");
    if (collection === undefined) throw new Refusal(404, { error: "Collection not found" });
    sendJson(call.response, 200, {
      ...collection,
      title: collection.slug,
      items: collection.items.map((item, position) => ({ ...item, _id: `item${position}`, position })),
    });
  }

  private async addCollectionItem(call: Call): Promise<void> {
    const collection = this.collections.get(call.parts[0] ?? "");
    if (collection === undefined) throw new Refusal(404, { error: "Collection not found" });
    const { item } = (await readJsonBody(call.request)) as { item?: { type: string; id: string } };
    if (item === undefined) throw new Refusal(400, { error: '"item" is required' });
    if (collection.items.some(({ id }) => id.toLowerCase() === item.id.toLowerCase())) {
      throw new Refusal(409, { error: "Item already in collection" });
    }
    collection.items.push(item);
    sendJson(call.response, 200, { slug: collection.slug, items: collection.items });
  }

  private async preupload(call: Call): Promise<void> {
    const repository = this.repository(call);
    this.files(call);
    if (!this.mayWrite(repository.id) && call.url.searchParams.get("create_pr") !== "1") {
      throw new Refusal(403, { error: "You don't have write access to this repository" });
    }
    const { files } = (await readJsonBody(call.request)) as { files: { path: string; size: number }[] };
    const mode = (size: number) => (size >= this.options.lfsFromBytes ? "lfs" : "regular");
    sendJson(call.response, 200, {
      files: files.map(({ path, size }) => ({ path, uploadMode: mode(size), shouldIgnore: false })),
    });
  }

  private async lfsBatch(call: Call): Promise<void> {
    const { objects } = (await readJsonBody(call.request)) as { objects: { oid: string; size: number }[] };
    const multipart = objects.some(({ size }) => size > this.options.multipartBytes);
    sendJson(
      call.response,
      200,
      {
        transfer: multipart ? "multipart" : "basic",
        objects: objects.map(({ oid, size }) => ({
          oid,
          size,
          ...(!this.objects.has(oid) && { actions: { upload: this.uploadAction(oid, size) } }),
        })),
      },
      { "content-type": "application/vnd.git-lfs+json" },
    );
  }

  private uploadAction(oid: string, size: number) {
    const piece = this.options.multipartBytes;
    if (size <= piece) return { href: `${this.store.url}/upload/${oid}?X-Amz-Signature=s3cr3t` };
    const urls = Array.from({ length: Math.ceil(size / piece) }, (_, index) => [
      String(index + 1).padStart(5, "0"),
      `${this.store.url}/piece/${oid}/${index + 1}?X-Amz-Signature=s3cr3t`,
    ]);
    return {
      href: `${this.store.url}/complete/${oid}?X-Amz-Signature=s3cr3t`,
      header: { chunk_size: String(piece), ...Object.fromEntries(urls) },
    };
  }

  private async commit(call: Call): Promise<void> {
    const repository = this.repository(call);
    const asPullRequest = call.url.searchParams.get("create_pr") === "1";
    if (!this.mayWrite(repository.id) && !asPullRequest) {
      throw new Refusal(403, { error: "You don't have write access to this repository" });
    }
    this.files(call);
    const lines = (await readBody(call.request)).toString("utf8").trim().split("\n");
    const changes = new Map<string, HubFile | null>();
    let header = { summary: "", description: "" };
    for (const line of lines) {
      const { key, value } = JSON.parse(line) as { key: string; value: Record<string, string> };
      if (key === "header") header = { summary: value.summary ?? "", description: value.description ?? "" };
      else if (key === "file") {
        changes.set(value.path ?? "", { content: Buffer.from(value.content ?? "", "base64"), lfs: false });
      } else if (key === "lfsFile") {
        const content = this.objects.get(value.oid ?? "");
        if (content === undefined) {
          throw new Refusal(400, { error: `LFS pointer ${value.oid} does not exist` });
        }
        changes.set(value.path ?? "", { content, lfs: true });
      } else if (key === "deletedFile") changes.set(value.path ?? "", null);
    }
    const number = repository.revisions.size;
    const revision = asPullRequest ? `refs/pr/${number}` : (call.parts[1] ?? "main");
    const commitOid = repository.commit(revision, header.summary, header.description, changes);
    sendJson(call.response, 200, {
      success: true,
      commitOid,
      commitUrl: `${this.url}/datasets/${repository.id}/commit/${commitOid}`,
      hookOutput: "",
      ...(asPullRequest && {
        pullRequestUrl: `${this.url}/datasets/${repository.id}/discussions/${number}`,
        pullRequestRevision: revision,
        pullRequestNum: number,
      }),
    });
  }

  private tree(call: Call): void {
    const files = this.files(call);
    const start = Number(call.url.searchParams.get("cursor") ?? 0);
    const page = [...files].slice(start, start + this.options.pageSize);
    const next = new URL(call.url);
    next.searchParams.set("cursor", String(start + page.length));
    const more = start + page.length < files.size;
    sendJson(
      call.response,
      200,
      page.map(([path, { content, lfs }]) => ({
        type: "file",
        oid: gitBlobId(content),
        size: content.length,
        path,
        ...(lfs && { lfs: { oid: sha256(content), size: content.length, pointerSize: 130 } }),
      })),
      more ? { link: `<${next.href}>; rel="next"` } : {},
    );
  }

  private parquetListing(call: Call): void {
    const repository = this.repository(call);
    const listing: Record<string, Record<string, string[]>> = {};
    for (const [config, splits] of repository.parquet) {
      listing[config] = {};
      for (const [split, files] of splits) {
        const base = `${this.url}/api/datasets/${repository.id}/parquet/${config}/${split}`;
        listing[config][split] = files.map((_, index) => `${base}/${index}.parquet`);
      }
    }
    sendJson(call.response, 200, listing);
  }

  private parquetFile(call: Call): void {
    const repository = this.repository(call);
    const [, config = "", split = "", index = ""] = call.parts;
    const content = repository.parquet.get(config)?.get(split)?.[Number(index)];
    if (content === undefined) throw new Refusal(404, { error: "Entry not found" });
    this.redirectToStore(call.response, content);
  }

  private resolve(call: Call): void {
    const file = this.files(call).get(call.parts[2] ?? "");
    if (file === undefined) {
      const headers = { "x-error-code": "EntryNotFound", "x-error-message": "Entry not found" };
      throw new Refusal(404, { error: "Entry not found" }, headers);
    }
    if (file.lfs) this.redirectToStore(call.response, file.content);
    else sendBytes(call.request, call.response, file.content, { etag: `"${gitBlobId(file.content)}"` });
  }

  private redirectToStore(response: ServerResponse, content: Buffer): void {
    const oid = sha256(content);
    this.objects.set(oid, content);
    response.writeHead(302, {
      location: `${this.store.url}/object/${oid}?X-Amz-Signature=s3cr3t`,
      "x-linked-etag": `"${oid}"`,
      "x-linked-size": String(content.length),
    });
    response.end();
  }

  /** The store behind the hub: signed addresses, no bearer token accepted. */
  private async serveStore(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    if (request.headers.authorization !== undefined) {
      throw new Refusal(400, { error: "Only one auth mechanism allowed" });
    }
    const [, action, oid = "", piece] = url.pathname.split("/");
    if (action === "object") {
      const content = this.objects.get(oid);
      if (content === undefined) throw new Refusal(404, { error: "NoSuchKey" });
      return sendBytes(request, response, content, { etag: `"store-${oid.slice(0, 8)}"` });
    }
    const body = await readBody(request);
    if (action === "piece") {
      const known = this.pieces.get(oid) ?? new Map<number, Buffer>();
      this.pieces.set(oid, known.set(Number(piece), body));
      response.writeHead(200, { etag: `"${sha256(body).slice(0, 32)}"` }).end();
      return;
    }
    const whole =
      action === "complete"
        ? [...(this.pieces.get(oid) ?? [])].sort(([a], [b]) => a - b).map(([, part]) => part)
        : [body];
    this.keepObject(response, oid, Buffer.concat(whole));
  }

  private keepObject(response: ServerResponse, oid: string, content: Buffer): void {
    if (sha256(content) !== oid) throw new Refusal(400, { error: "BadDigest" });
    this.objects.set(oid, content);
    response.writeHead(200).end();
  }
}

/** Starts a hub with the given options on two loopback ports. */
export function startHubServer(options: HubServerOptions = {}): Promise<HubServer> {
  return new HubServer(options).start();
}
