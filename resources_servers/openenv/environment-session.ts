import { HttpError, type JsonObject } from "nemo-gym";
import { WebSocket } from "undici";

/** The response of an environment to `reset` and `step`. */
export interface Observation {
  observation: JsonObject;
  reward: number | null;
  done: boolean;
}

/** The environment rejected a message or failed to process it. The model sees the error, and the episode continues. */
export class EnvironmentError extends Error {}

interface Waiting {
  resolve(message: { type?: string; data?: unknown }): void;
  reject(error: Error): void;
}

/** One episode on an OpenEnv server: a WebSocket to one environment, which sends one response per message. */
export class EnvironmentSession {
  readonly #socket: WebSocket;
  readonly #timeoutMs: number;
  readonly #waiting: Waiting[] = [];
  #ended: Error | undefined;

  private constructor(socket: WebSocket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    socket.addEventListener("message", ({ data }) => this.#received(String(data)));
    socket.addEventListener("close", ({ code }) =>
      this.#end(new Error(`the connection was closed (${code})`)),
    );
    socket.addEventListener("error", () => this.#end(new Error("the connection has failed")));
  }

  static async open(baseUrl: string, timeoutMs: number, signal: AbortSignal): Promise<EnvironmentSession> {
    const url = `${baseUrl.replace(/^http/, "ws").replace(/\/$/, "")}/ws`;
    const socket = new WebSocket(url);
    const session = new EnvironmentSession(socket, timeoutMs);
    await new Promise<void>((resolve, reject) => {
      const failed = () => reject(unreachable(url, "it does not answer"));
      socket.addEventListener("open", () => resolve(), { once: true });
      socket.addEventListener("error", failed, { once: true });
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    }).catch((error: unknown) => {
      session.close();
      throw error;
    });
    return session;
  }

  reset(settings: JsonObject): Promise<Observation> {
    return this.#ask({ type: "reset", data: settings });
  }

  step(action: JsonObject): Promise<Observation> {
    return this.#ask({ type: "step", data: action });
  }

  state(): Promise<JsonObject> {
    return this.#ask({ type: "state" });
  }

  close(): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ type: "close" }));
    this.#socket.close();
  }

  async #ask<T>(message: { type: string; data?: JsonObject }): Promise<T> {
    if (this.#ended) throw lost(this.#ended);
    let timer: NodeJS.Timeout | undefined;
    try {
      const reply = await new Promise<{ type?: string; data?: unknown }>((resolve, reject) => {
        this.#waiting.push({ resolve, reject });
        timer = setTimeout(() => {
          // A late response would be mistaken for the response to another message.
          this.#end(new Error(`no answer to ${message.type} within ${this.#timeoutMs / 1000} s`));
          this.close();
        }, this.#timeoutMs);
        this.#socket.send(JSON.stringify(message));
      });
      if (reply.type === "error") throw refusal(reply.data as { message?: string; code?: string });
      return reply.data as T;
    } finally {
      clearTimeout(timer);
    }
  }

  #received(text: string): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) {
      // Unsolicited message: the server explains why it does not serve this connection.
      const { data } = readMessage(text);
      this.#end(new Error((data as { message?: string } | undefined)?.message ?? text.slice(0, 200)));
    } else waiting.resolve(readMessage(text));
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    for (const { reject } of this.#waiting.splice(0)) reject(lost(this.#ended));
  }
}

function readMessage(text: string): { type?: string; data?: unknown } {
  try {
    return JSON.parse(text) as { type?: string; data?: unknown };
  } catch {
    return { type: "error", data: { message: `the server said '${text.slice(0, 200)}'` } };
  }
}

/** The model sees errors of its message and of the environment's code. Errors of the server fail the rollout. */
function refusal({ message = "unknown error", code, ...rest }: { message?: string; code?: string }): Error {
  if (code === "CAPACITY_REACHED") return atCapacity(message);
  if (code === "FACTORY_ERROR" || code === "SESSION_ERROR") return lost(new Error(`${code}: ${message}`));
  const { errors } = rest as { errors?: unknown };
  return new EnvironmentError(errors === undefined ? message : `${message}: ${JSON.stringify(errors)}`);
}

/** Retried, because a place becomes free when another rollout ends. */
function atCapacity(reason: string): HttpError {
  const message = `The OpenEnv server takes no further session (${reason}). Raise its max_concurrent_envs, or lower --concurrency.`;
  return new HttpError(503, message, { failure: { class: "environment_full", retryable: true, message } });
}

function lost(cause: Error): HttpError {
  const message = `The OpenEnv server: ${cause.message}`;
  return new HttpError(503, message, { failure: { class: "connection", retryable: true, message }, cause });
}

function unreachable(url: string, reason: string): HttpError {
  const message = `The OpenEnv server at ${url} cannot be used: ${reason}`;
  return new HttpError(503, message, { failure: { class: "connection", retryable: true, message } });
}
