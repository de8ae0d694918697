import type { Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { buildConnector, Pool } from "undici";
import { errorMessage } from "../../base/errors.ts";
import { QueueError } from "./errors.ts";
import { rejectStranger } from "./reject-stranger.ts";
import type { ResultHead, ResultStatus, RowAddress } from "./store-server.ts";

const MAX_BATCH = 256;
const MAX_BATCH_CHARACTERS = 4 * 1024 * 1024;
const CONNECT_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** An unreachable collector is detected after this long, so that a moved one is found. */
const ANSWER_LIMIT_MS = 30_000;

interface StoreAddress {
  url: string;
  token: string;
}

/**
 * Reads rows from the store of a run and sends results to it. Concurrent requests are batched. While the collector is
 * unreachable, rows are rejected, and results wait until the collector is reachable again, possibly at another address,
 * or until `close`.
 */
export class StoreClient {
  readonly #address: () => StoreAddress;
  readonly #onNotice: (text: string) => void;
  readonly #connect: buildConnector.connector;
  readonly #closed = new AbortController();
  readonly #rows: Batches<RowAddress, string | null>;
  readonly #results: Batches<string, ResultStatus>;
  #pool: { url: string; pool: Pool } | undefined;
  #isAway = false;
  /** Whether the current outage was reported. */
  #isReported = false;
  #probePause = FIRST_PAUSE_MS;
  /** Called when the collector becomes unreachable, and when it is reachable again. */
  onAway: () => void = () => {};

  /** `address` is called before every request; `owner`: see `BrokerSettings.owner`. */
  constructor(
    address: () => StoreAddress,
    { onNotice = () => {}, owner }: { onNotice?: (text: string) => void; owner?: number | "any" } = {},
  ) {
    this.#address = address;
    this.#onNotice = onNotice;
    this.#connect = checkedConnector(owner);
    this.#rows = new Batches(async (batch) => {
      const text = await this.#try("POST", "/rows", JSON.stringify(batch));
      return text.split("\n").map((line) => (line === "null" ? null : line));
    });
    this.#results = new Batches(async (batch) => {
      const text = await this.#insist("POST", "/results", batch.join("\n"));
      return JSON.parse(text) as ResultStatus[];
    });
  }

  /** Whether the last request did not reach the collector. */
  get isAway(): boolean {
    return this.#isAway;
  }

  config(): Promise<string> {
    return this.#insist("GET", "/config", null);
  }

  /** The row as JSON; null when the rollout is settled. Rejects when the collector is unreachable. */
  row(address: RowAddress): Promise<string | null> {
    return this.#rows.add(address, 0);
  }

  /** Resolves when the collector has written the result to its file. */
  save(head: ResultHead, line: string): Promise<ResultStatus> {
    return this.#results.add(`${JSON.stringify(head)}\n${line}`, line.length);
  }

  async close(): Promise<void> {
    this.#closed.abort(new QueueError("QUEUE_STORE", "the run is over"));
    await this.#pool?.pool.destroy();
  }

  async #insist(method: "GET" | "POST", path: string, body: string | null): Promise<string> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
      this.#closed.signal.throwIfAborted();
      try {
        return await this.#try(method, path, body);
      } catch {
        this.#closed.signal.throwIfAborted();
      }
      await sleep(pause);
    }
  }

  async #try(method: "GET" | "POST", path: string, body: string | null): Promise<string> {
    try {
      const text = await this.#request(method, path, body);
      this.#isReported = false;
      this.#probePause = FIRST_PAUSE_MS;
      this.#setAway(false);
      return text;
    } catch (error) {
      this.#closed.signal.throwIfAborted();
      if (!this.#isReported)
        this.#onNotice(`The collector cannot be reached, trying again: ${errorMessage(error)}`);
      this.#isReported = true;
      this.#setAway(true);
      throw error;
    }
  }

  #setAway(isAway: boolean): void {
    if (this.#isAway === isAway) return;
    this.#isAway = isAway;
    if (isAway) void this.#probe();
    this.onAway();
  }

  /** Waits until the collector is reachable again. Delays grow until a row or a result was transferred. */
  async #probe(): Promise<void> {
    while (this.#isAway && !this.#closed.signal.aborted) {
      await sleep(this.#probePause, undefined, { ref: false });
      this.#probePause = Math.min(LONGEST_PAUSE_MS, this.#probePause * 2);
      await this.#request("GET", "/config", null).then(
        () => this.#setAway(false),
        () => {},
      );
    }
  }

  async #request(method: "GET" | "POST", path: string, body: string | null): Promise<string> {
    const { url, token } = this.#address();
    if (this.#pool?.url !== url) {
      void this.#pool?.pool.destroy();
      this.#pool = { url, pool: new Pool(url, { connections: 4, connect: this.#connect }) };
    }
    const answer = await this.#pool.pool.request({
      method,
      path,
      body,
      headers: { authorization: `Bearer ${token}` },
      headersTimeout: ANSWER_LIMIT_MS,
      bodyTimeout: ANSWER_LIMIT_MS,
      signal: this.#closed.signal,
    });
    const text = await answer.body.text();
    if (answer.statusCode === 200) return text;
    throw new QueueError("QUEUE_STORE", `${answer.statusCode} from ${url}${path}: ${text.slice(0, 500)}`);
  }
}

/** The token and results must not reach a stranger who listens where the collector was, nor his config a worker. */
function checkedConnector(owner: number | "any" | undefined): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_MS });
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error) return callback(error, null);
      const name = `${options.hostname}:${options.port}`;
      rejectStranger(socket as Socket, name, owner).then(
        () => callback(null, socket),
        (rejection: Error) => {
          socket.destroy();
          callback(rejection, null);
        },
      );
    });
}

interface Waiting<In, Out> {
  item: In;
  size: number;
  resolve: (value: Out) => void;
  reject: (error: unknown) => void;
}

/** Batches the items that arrive while the previous request is running. */
class Batches<In, Out> {
  readonly #send: (batch: In[]) => Promise<Out[]>;
  #waiting: Waiting<In, Out>[] = [];
  #sending = false;

  constructor(send: (batch: In[]) => Promise<Out[]>) {
    this.#send = send;
  }

  add(item: In, size: number): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, size, resolve, reject });
      if (!this.#sending) void this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    this.#sending = true;
    // Concurrent items share a batch.
    await nextTurn();
    while (this.#waiting.length > 0) {
      const batch = this.#next();
      try {
        const answers = await this.#send(batch.map(({ item }) => item));
        if (answers.length !== batch.length)
          throw new QueueError("QUEUE_STORE", "the store answered for another number of rollouts than asked");
        for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Out);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#sending = false;
  }

  #next(): Waiting<In, Out>[] {
    let count = 0;
    let size = 0;
    for (const waiting of this.#waiting) {
      if (count >= MAX_BATCH || (count > 0 && size + waiting.size > MAX_BATCH_CHARACTERS)) break;
      count++;
      size += waiting.size;
    }
    return this.#waiting.splice(0, count);
  }
}
