import { Pool } from "undici";
import { GymError } from "../../errors.ts";
import { processWide } from "./process-wide.ts";

/** An idle connection is closed after this time; endpoints behind balancers drop it themselves after a minute or so. */
const KEEP_ALIVE_MS = 20_000;

export interface Attempt {
  origin: string;
  path: string;
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** From the first byte sent to the last byte received; null: as long as the signal allows. */
  timeoutMs: number | null;
  connectTimeoutMs: number;
  maxResponseBytes: number;
}

export interface AttemptReply {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** An attempt took longer than it may. */
export class AttemptTimeout extends GymError {
  constructor(milliseconds: number) {
    super("PROVIDER_TIMEOUT", `no answer within ${milliseconds / 1000} s`);
  }
}

// One pool per address for all servers of the process: sockets are reused whoever asks.
const pools = processWide("pools", () => new Map<string, Pool>());

/** Sends one request over a pooled connection; redirects are not followed, so that keys stay with their host. */
export async function sendAttempt(attempt: Attempt): Promise<AttemptReply> {
  const { signal, timeoutMs } = attempt;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const forward = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", forward, { once: true });
  const timer =
    timeoutMs === null
      ? undefined
      : setTimeout(() => controller.abort(new AttemptTimeout(timeoutMs)), timeoutMs);
  try {
    const reply = await poolFor(attempt).request({
      method: attempt.method,
      path: attempt.path,
      headers: attempt.headers,
      signal: controller.signal,
      ...(attempt.body !== undefined && { body: attempt.body }),
    });
    return { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", forward);
  }
}

function poolFor({ origin, connectTimeoutMs, maxResponseBytes }: Attempt): Pool {
  const key = `${origin} ${connectTimeoutMs} ${maxResponseBytes}`;
  let pool = pools.get(key);
  if (!pool) {
    pool = new Pool(origin, {
      // How many calls run at once is the limiter's to say.
      connections: null,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: connectTimeoutMs },
      // A whole attempt has one time limit; an engine may be silent for most of it while weights are exchanged.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: maxResponseBytes,
    });
    pools.set(key, pool);
  }
  return pool;
}

/** Closes every connection; requests that are still running fail. */
export async function closeProviderPools(): Promise<void> {
  const open = [...pools.values()];
  pools.clear();
  await Promise.all(open.map((pool) => pool.destroy()));
}
