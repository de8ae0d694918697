import { randomBytes } from "node:crypto";
import { redactor, secretsIn } from "../../../base/secrets.ts";
import type { Response } from "../../../wire/schemas/door.ts";
import type { Dialect } from "../../../wire/stream/door.ts";
import { isRolloutId } from "../../calls/rollout-id.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import { ModelCallLog } from "../../capture/model-call-log.ts";
import {
  makeCaptureDirectory,
  modelCallDirectory,
  type TokenCaptureSettings,
  tokenCaptureSettings,
} from "../../capture/settings.ts";
import { TokenFileStore } from "../../capture/token-file-store.ts";
import { TokenRecorder } from "../../capture/token-recorder.ts";
import { loadTokenSink } from "../../capture/token-sink.ts";
import type { Handler, RouteCall } from "../app.ts";
import { serveObserved } from "./observed-call.ts";

/** Records the calls of rollouts to a model server: the calls themselves, their tokens, or both. */
export class ModelCapture {
  readonly #server: ServerContext<unknown>;
  readonly #directory: string | undefined;
  readonly #tokenSettings: TokenCaptureSettings | undefined;
  readonly #redact: (text: string) => string;
  readonly #calls: ModelCallLog | undefined;
  #tokens: TokenRecorder | undefined;

  private constructor(
    server: ServerContext<unknown>,
    directory: string | undefined,
    tokens: TokenCaptureSettings | undefined,
  ) {
    this.#server = server;
    this.#directory = directory;
    this.#tokenSettings = tokens;
    this.#redact = redactor(secretsIn(server.globalConfig));
    if (directory !== undefined) {
      this.#calls = new ModelCallLog(directory, { redact: this.#redact, log: server.log });
    }
  }

  /** The capture that the config of the run enables; undefined when nothing is recorded. */
  static of(server: ServerContext<unknown>): ModelCapture | undefined {
    const directory = modelCallDirectory(server.globalConfig);
    const tokens = tokenCaptureSettings(server.globalConfig);
    return directory === undefined && tokens === undefined
      ? undefined
      : new ModelCapture(server, directory, tokens);
  }

  /** Creates the directories, and the sink if configured. */
  async open(): Promise<void> {
    if (this.#directory !== undefined) await makeCaptureDirectory("model_call_capture_dir", this.#directory);
    if (this.#tokenSettings === undefined) return;
    const { sink, sinkOptions, directory } = this.#tokenSettings;
    const { log, findFile } = this.#server;
    if (sink !== undefined) {
      this.#tokens = new TokenRecorder(await loadTokenSink(sink, sinkOptions, findFile), log);
    } else if (directory !== undefined) {
      await makeCaptureDirectory("token_id_capture.dir", directory);
      this.#tokens = new TokenRecorder(new TokenFileStore(directory, this.#redact), log);
    }
  }

  async close(): Promise<void> {
    await this.#tokens?.close();
  }

  /** A route that records the calls that name their rollout. */
  route(dialect: Dialect, handler: Handler): Handler {
    const log = this.#calls;
    const context = log && { dialect, server: this.#server.name, log };
    return (call) => {
      const { rolloutId } = call;
      if (rolloutId === undefined || !isRolloutId(rolloutId)) return handler(call);
      const own = { ...call, rolloutId, modelCallId: randomBytes(16).toString("hex") };
      return context ? serveObserved(handler, own, context) : handler(own);
    };
  }

  /** Calls the backend and, if the call requests it, records the tokens of the answer. */
  ask<T>(
    call: RouteCall,
    backend: () => Promise<T>,
    read: (answer: T) => Pick<Response, "output" | "model">,
  ): Promise<T> {
    const { rolloutId, modelCallId, tokenCapture } = call;
    if (!this.#tokens || !tokenCapture || rolloutId === undefined || modelCallId === undefined)
      return backend();
    return this.#tokens.record({ rolloutId, modelCallId }, backend, read);
  }
}
