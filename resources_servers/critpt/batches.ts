import { appendFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { Deadline, GymError, sleep } from "nemo-gym";
import { Semaphore } from "nemo-gym/agents";
import { request } from "undici";
import { z } from "zod";

const CHALLENGES = 70;
const MAX_QUOTED = 300;

const Scores = z.looseObject({ accuracy: z.number(), timeout_rate: z.number().default(0) });
export type Scores = z.output<typeof Scores>;

export interface Submission {
  problem_id: string;
  generated_code: string;
}

export interface ApiReply {
  status: number;
  body: unknown;
}
/** One call of the scoring service. */
export type CallApi = (body: object, key: string, signal: AbortSignal) => Promise<ApiReply>;

/** The service did not score a batch. None of its rollouts gets a reward. */
export class ScoringError extends GymError {
  constructor(message: string) {
    super("CRITPT_SCORING", message);
  }
}

export interface BatchSettings {
  keys: readonly string[];
  batchSize: number;
  fireAfter: number;
  timeoutSeconds: number;
  maxRetries: number;
  backoffSeconds: number;
  /** Where submissions and replies are recorded. */
  directory?: string;
}

interface Batch {
  submissions: Map<string, Submission>;
  scores: Resolvers<Scores>;
}

/** Collects submissions until a batch is complete, because the service only scores whole batches. */
export class Batches {
  readonly #call: CallApi;
  readonly #settings: BatchSettings;
  readonly #pending: Batch[] = [];
  /** The service scores one batch at a time. */
  readonly #turn = new Semaphore(1);
  readonly #stopped = new AbortController();
  #key = 0;

  constructor(call: CallApi, settings: BatchSettings) {
    this.#call = call;
    this.#settings = settings;
  }

  get pendingSizes(): number[] {
    return this.#pending.map(({ submissions }) => submissions.size);
  }

  /** Waits until the batch of the submission is scored. A submission whose caller gives up stays in its batch. */
  submit(submission: Submission): Promise<Scores> {
    let batch = this.#pending.find(({ submissions }) => !submissions.has(submission.problem_id));
    if (batch === undefined) {
      batch = { submissions: new Map(), scores: withResolvers() };
      // Whoever still waits gets the error; nobody may be waiting any more.
      batch.scores.promise.catch(() => {});
      this.#pending.push(batch);
    }
    batch.submissions.set(submission.problem_id, submission);
    if (batch.submissions.size >= this.#settings.fireAfter) this.#fire(batch);
    return batch.scores.promise;
  }

  stop() {
    this.#stopped.abort(new ScoringError("The server was stopped."));
  }

  #fire(batch: Batch) {
    this.#pending.splice(this.#pending.indexOf(batch), 1);
    const { signal } = this.#stopped;
    this.#turn.run(() => this.#score(batch), signal).then(batch.scores.resolve, batch.scores.reject);
  }

  async #score({ submissions }: Batch): Promise<Scores> {
    const all = [...submissions.values()];
    for (let number = 1; number <= CHALLENGES && all.length < this.#settings.batchSize; number++) {
      const problem_id = `Challenge_${number}_main`;
      if (!submissions.has(problem_id)) all.push({ problem_id, generated_code: fenced("") });
    }
    const body = {
      submissions: all.map((each) => ({ ...each, model: "unknown", generation_config: {} })),
      batch_metadata: {},
    };
    await this.#record("submissions.jsonl", body);
    const { body: reply } = await this.#ask(body);
    await this.#record("aa_responses.jsonl", reply);
    const parsed = Scores.safeParse(reply);
    if (!parsed.success) throw new ScoringError(`The scoring service sent no accuracy: ${quoted(reply)}`);
    return parsed.data;
  }

  /** Tries the next key where one is limited, and again later after an error of the service. */
  async #ask(body: object): Promise<ApiReply> {
    const { keys, maxRetries, backoffSeconds, timeoutSeconds } = this.#settings;
    let limited = 0;
    for (let attempt = 1; ; ) {
      const deadline = new Deadline(timeoutSeconds * 1000, this.#stopped.signal);
      const reply = await this.#call(body, keys[this.#key] as string, deadline.signal)
        .catch((error: unknown): ApiReply => {
          this.#stopped.signal.throwIfAborted();
          return { status: 503, body: deadline.passed ? "time limit exceeded" : String(error) };
        })
        .finally(() => deadline.clear());
      const { status } = reply;
      if (status < 400) return reply;
      if (status === 429) {
        limited++;
        if (limited >= keys.length)
          throw new ScoringError(`All keys are limited (429): ${quoted(reply.body)}`);
        this.#key = (this.#key + 1) % keys.length;
        continue;
      }
      if (status < 500 || attempt >= maxRetries)
        throw new ScoringError(`The scoring service answered ${status}: ${quoted(reply.body)}`);
      await sleep(backoffSeconds * 1000 * 2 ** (attempt - 1), this.#stopped.signal);
      attempt++;
    }
  }

  async #record(file: string, value: unknown) {
    const { directory } = this.#settings;
    if (directory === undefined) return;
    await mkdir(directory, { recursive: true });
    await appendFile(path.join(directory, file), `${JSON.stringify(value)}\n`);
  }
}

/** The code as the service expects it. */
export const fenced = (code: string) => `\`\`\`python\n${code === "" ? "" : `${code}\n`}\`\`\``;

const quoted = (value: unknown) =>
  (typeof value === "string" ? value : JSON.stringify(value))?.slice(0, MAX_QUOTED);

interface Resolvers<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Node 20 has no Promise.withResolvers. */
function withResolvers<T>(): Resolvers<T> {
  const resolvers: Partial<Resolvers<T>> = {};
  resolvers.promise = new Promise<T>((resolve, reject) => Object.assign(resolvers, { resolve, reject }));
  return resolvers as Resolvers<T>;
}

export function httpApi(url: string): CallApi {
  return async (body, key, signal) => {
    const reply = await request(url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key },
      body: JSON.stringify(body),
      // The deadline of the call is the only limit: the service takes minutes.
      headersTimeout: 0,
      bodyTimeout: 0,
      signal,
    });
    const text = await reply.body.text();
    return { status: reply.statusCode, body: jsonOf(text) };
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
