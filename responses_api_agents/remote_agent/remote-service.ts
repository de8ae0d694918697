import { Deadline, errorMessage, GymError, sleep } from "nemo-gym";
import type { Cookies } from "nemo-gym/agents";
import { parseResponse, type Response, type ResponseCreateParams } from "nemo-gym/openai";
import { Pool } from "undici";

const MAX_ATTEMPTS = 3;
const MAX_DELAY_MS = 500;
const MAX_QUOTED = 500;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** The service that runs the remote agent. */
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

  /** Runs one turn. Connection errors are retried; timeouts and error statuses are not. Redirects are failures. */
  async respond(
    params: ResponseCreateParams,
    cookies: Cookies,
    signal: AbortSignal,
  ): Promise<{ response: Response; cookies: Cookies }> {
    const deadline = new Deadline(this.#timeoutMs, signal);
    try {
      return await this.#respond(params, cookies, signal, deadline);
    } finally {
      deadline.clear();
    }
  }

  async #respond(
    params: ResponseCreateParams,
    cookies: Cookies,
    signal: AbortSignal,
    deadline: Deadline,
  ): Promise<{ response: Response; cookies: Cookies }> {
    const reply = await this.#send(params, cookies, signal, deadline);
    const text = await reply.body.text().catch((error: unknown) => {
      throw this.#failure(`broke off its answer: ${reasonOf(error)}`, signal, deadline, error);
    });
    const { statusCode: status, headers } = reply;
    if (status < 200 || status >= 300) {
      const { location } = headers;
      const elsewhere =
        typeof location === "string" ? ` (redirects to ${location}; put that into agent_base_url)` : "";
      throw new GymError(
        "REMOTE_AGENT",
        `${status} from ${this.#origin}${elsewhere}: ${text.slice(0, MAX_QUOTED)}`,
      );
    }
    return {
      response: parseResponse(readObject(text), ["response"]),
      cookies: cookiesOf(headers["set-cookie"]),
    };
  }

  /** Sends the request until the response begins; only connection errors are retried. */
  async #send(params: ResponseCreateParams, cookies: Cookies, signal: AbortSignal, deadline: Deadline) {
    const cookie = Object.entries(cookies)
      .map(([name, value]) => `${name}=${value}`)
      .join("; ");
    const body = JSON.stringify(params);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#pool.request({
          method: "POST",
          path: this.#path,
          headers: { "content-type": "application/json", ...(cookie && { cookie }) },
          body,
          signal: deadline.signal,
        });
      } catch (error) {
        if (signal.aborted || deadline.passed || attempt >= MAX_ATTEMPTS)
          throw this.#failure(`cannot be reached: ${reasonOf(error)}`, signal, deadline, error);
        await sleep(Math.random() * MAX_DELAY_MS, deadline.signal);
      }
    }
  }

  /** The error of an interrupted call: cancelled by the caller, timed out, or the original error. */
  #failure(what: string, signal: AbortSignal, deadline: Deadline, cause: unknown): unknown {
    if (signal.aborted) return signal.reason;
    const message = deadline.passed ? `did not answer within ${this.#timeoutMs / 1000} s` : what;
    return new GymError("REMOTE_AGENT", `${this.#origin} ${message}`, { cause });
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

/** The names and values of `Set-Cookie` headers. Values go back to the service as they came. */
function cookiesOf(headers: string | readonly string[] = []): Cookies {
  const pairs = [headers].flat().map((header) => /^\s*([^=;]+?)\s*=\s*([^;]*?)\s*(?:;|$)/.exec(header));
  return Object.fromEntries(pairs.flatMap((match) => (match ? [[match[1], match[2]]] : [])));
}

/** Some network errors have only a code and no message. */
const reasonOf = (error: unknown): string =>
  errorMessage(error) || String((error as { code?: unknown } | null)?.code);

function readObject(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notAResponse("with JSON", text);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw notAResponse("with a JSON object", text);
}

const notAResponse = (wanted: string, text: string): GymError =>
  new GymError("REMOTE_AGENT", `the remote agent did not answer ${wanted}: ${text.slice(0, MAX_QUOTED)}`);
