import { type Cookies, cookieHeader, Deadline, GymError, nextDelay, parseSetCookies, sleep } from "nemo-gym";
import { parseResponse, type Response, type ResponseCreateParams } from "nemo-gym/openai";
import { Pool } from "undici";

const RETRY = { attempts: 3, wallClockMs: null, baseDelayMs: 500, maxDelayMs: 500 };
const MAX_QUOTED = 500;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** The service that holds the remote agent. */
export class RemoteService {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #timeoutMs: number;
  readonly #origin: string;

  constructor(baseUrl: string, timeoutMs: number) {
    const url = new URL(`${baseUrl}/v1/responses`);
    this.#origin = url.origin;
    this.#path = url.pathname;
    this.#timeoutMs = timeoutMs;
    this.#pool = new Pool(url.origin, {
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MAX_RESPONSE_BYTES,
    });
  }

  /** One turn; connection errors are tried again, a time-out and an error status are not. Redirects are failures. */
  async respond(
    params: ResponseCreateParams,
    cookies: Cookies,
    signal: AbortSignal,
  ): Promise<{ response: Response; cookies: Cookies }> {
    const deadline = new Deadline(this.#timeoutMs, signal);
    try {
      return await this.#attempts(params, cookies, signal, deadline);
    } finally {
      deadline.clear();
    }
  }

  async #attempts(
    params: ResponseCreateParams,
    cookies: Cookies,
    signal: AbortSignal,
    deadline: Deadline,
  ): Promise<{ response: Response; cookies: Cookies }> {
    const stop = deadline.signal;
    const cookie = cookieHeader(cookies);
    const body = JSON.stringify(params);
    const startedAt = Date.now();
    for (let attempt = 1; ; attempt++) {
      try {
        const reply = await this.#pool.request({
          method: "POST",
          path: this.#path,
          headers: { "content-type": "application/json", ...(cookie && { cookie }) },
          body,
          signal: stop,
        });
        const text = await reply.body.text();
        if (reply.statusCode < 200 || reply.statusCode >= 300) {
          throw new GymError(
            "REMOTE_AGENT",
            `${reply.statusCode} from ${this.#origin}: ${text.slice(0, MAX_QUOTED)}`,
          );
        }
        return {
          response: parseResponse(readJson(text), ["response"]),
          cookies: parseSetCookies(reply.headers["set-cookie"]),
        };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (deadline.passed) {
          throw new GymError(
            "REMOTE_AGENT",
            `${this.#origin} did not answer within ${this.#timeoutMs / 1000} s`,
          );
        }
        if (error instanceof GymError) throw error;
        const delay = nextDelay(RETRY, { attempt, startedAt });
        if (delay === undefined) {
          throw new GymError(
            "REMOTE_AGENT",
            `${this.#origin} cannot be reached: ${(error as Error).message}`,
            { cause: error },
          );
        }
        await sleep(delay, stop);
      }
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new GymError(
      "REMOTE_AGENT",
      `the remote agent did not answer with JSON: ${text.slice(0, MAX_QUOTED)}`,
    );
  }
}
