import { createHash } from "node:crypto";
import { lookup } from "node:dns";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { join, resolve, sep } from "node:path";
import { Deadline, GymError, type ServerContext, sleep } from "nemo-gym";
import { Agent, interceptors, request } from "undici";
import type { Config } from "./config.ts";

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_REDIRECTIONS = 5;
const MS = 1000;
const ARCHIVE = "https://www.sec.gov/Archives/";

/** Where pages come from; undefined if there is none. */
export interface Web {
  text(url: string, signal: AbortSignal): Promise<string | undefined>;
  close(): Promise<void>;
}

class PageError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("PAGE_FAILED", message, options);
  }
}

/** The web, with a limit of the rate, a cache and a copy of the archive of SEC. */
export function liveWeb({ config, directory }: ServerContext<Config>): Web {
  const cache = config.use_cache ? resolve(directory, config.cache_dir ?? "cache") : undefined;
  const dispatcher = new Agent({
    connect: config.allow_private_addresses ? {} : { lookup: publicLookup },
  }).compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTIONS }));
  let next = 0;
  const turn = async (signal: AbortSignal) => {
    const now = performance.now();
    const at = Math.max(now, next);
    next = at + MS / config.requests_per_second;
    if (at > now) await sleep(at - now, signal);
  };

  const fetchPage = async (url: string, signal: AbortSignal): Promise<string> => {
    const deadline = new Deadline(config.request_timeout * MS, signal);
    try {
      const headers = { "user-agent": config.user_agent, accept: "text/html,application/json,*/*" };
      const reply = await request(url, { headers, dispatcher, signal: deadline.signal });
      if (reply.statusCode !== 200) {
        await reply.body.dump();
        throw new PageError(`${reply.statusCode} from ${url}`);
      }
      const decoder = new TextDecoder();
      let text = "";
      for await (const chunk of reply.body) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        if (text.length > MAX_BYTES) throw new PageError(`${url} is longer than ${MAX_BYTES} bytes`);
      }
      return text + decoder.decode();
    } finally {
      deadline.clear();
    }
  };

  return {
    async text(url, signal) {
      if (!isPublicUrl(url, config.allow_private_addresses)) return undefined;
      const dumped = await fromDump(config.sec_dump_path, url);
      if (dumped !== undefined) return dumped;
      const file = cache && join(cache, createHash("sha256").update(url).digest("hex"));
      const cached = file && (await readFile(file, "utf8").catch(() => undefined));
      if (cached !== undefined) return cached;
      for (let attempt = 1; attempt <= config.max_retries; attempt++) {
        await turn(signal);
        try {
          const text = await fetchPage(url, signal);
          if (cache && file) await store(cache, file, text);
          return text;
        } catch {
          // What failed is not the model's business: it reads that there is no page.
          signal.throwIfAborted();
        }
      }
      return undefined;
    },
    close: () => dispatcher.close(),
  };
}

async function store(directory: string, file: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, text);
  await rename(partial, file);
}

/** The file of a copy of the archive. A path must not leave its folder. */
async function fromDump(dump: string | null | undefined, url: string): Promise<string | undefined> {
  if (dump == null || !url.startsWith(ARCHIVE)) return undefined;
  const root = resolve(dump);
  const file = resolve(root, url.slice(ARCHIVE.length));
  if (!file.startsWith(root + sep)) return undefined;
  return readFile(file, "utf8").catch(() => undefined);
}

const PRIVATE = new BlockList();
for (const [address, prefix] of [
  ...([
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
  ] as const),
  ...([
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["224.0.0.0", 3],
  ] as const),
])
  PRIVATE.addSubnet(address, prefix, "ipv4");
for (const [address, prefix] of [
  ["::", 128],
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  PRIVATE.addSubnet(address, prefix, "ipv6");

function isPrivate(address: string): boolean {
  return PRIVATE.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function isPublicUrl(text: string, allowPrivate: boolean): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol)) return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return allowPrivate || isIP(host) === 0 || !isPrivate(host);
}

/** Finds the address of a host. The model names hosts, so those of private networks do not exist. */
const publicLookup: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, found) => {
    const allowed = (found ?? []).filter(({ address }) => !isPrivate(address));
    const [first] = allowed;
    if (error || !first) callback(error ?? new PageError(`${host} has no public address`), "", 0);
    else if (options.all) callback(null, allowed);
    else callback(null, first.address, first.family);
  });
};
