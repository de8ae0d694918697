import { errorMessage } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { responseEnvelope } from "../../../wire/convert/door.ts";
import {
  materializeItem,
  materializeResponse,
  type Response,
  type ResponseCreateParams,
  type ResponseOutputItem,
} from "../../../wire/schemas/door.ts";
import {
  type NamespaceMap,
  ResponseEvents,
  replayResponse,
  type SseEvent,
} from "../../../wire/stream/door.ts";
import type { Cookies } from "../../calls/cookies.ts";
import type { Reply } from "../../calls/server-call.ts";
import type { AgentReply, RolloutScope } from "../../definitions/define-agent.ts";
import { eventStream } from "../body.ts";

type OnOutput = NonNullable<RolloutScope["onOutput"]>;

export interface StreamedRun {
  params: ResponseCreateParams;
  namespaces: NamespaceMap;
  /** The cookies of the client. */
  cookies: Cookies;
  /** The server's name, for clients that do not name a model. */
  server: string;
  respond(onOutput: OnOutput): Promise<AgentReply>;
  onFailure(error: unknown): void;
}

/**
 * Answers a streaming client: items are sent as the loop produces them. The headers carry the cookies of the
 * environment's session, so for a client without a session the stream begins when the first tool call has opened one. A
 * run that fails before that is an HTTP error.
 */
export async function streamRun(run: StreamedRun): Promise<Reply> {
  const hasSession = Object.keys(run.cookies).length > 0;
  let items: ReadableStreamDefaultController<ResponseOutputItem> | undefined;
  const queue = new ReadableStream<ResponseOutputItem>({
    start(controller) {
      items = controller;
    },
    cancel() {
      items = undefined;
    },
  });
  let begin: (cookies: Cookies) => void = () => {};
  const begun = new Promise<Cookies>((resolve) => {
    begin = resolve;
  });
  const done = run.respond((produced, cookies) => {
    for (const item of produced) items?.enqueue(item);
    if (hasSession || produced.some(({ type }) => type === "function_call_output")) begin(cookies);
  });
  // Readers of the queue get the failure from `done`.
  const closed = () => items?.close();
  done.then(closed, closed);
  const first = await Promise.race([done, begun.then((cookies) => ({ response: undefined, cookies }))]);
  const { response, cookies } = first;
  const events =
    response === undefined
      ? liveEvents(run, queue, done)
      : replayResponse(materializeResponse(response), run.namespaces);
  return eventStream(events, cookies);
}

async function* liveEvents(
  run: StreamedRun,
  queue: ReadableStream<ResponseOutputItem>,
  done: Promise<AgentReply>,
): AsyncGenerator<SseEvent> {
  const { params, namespaces, server } = run;
  const events = new ResponseEvents(namespaces);
  const model = params.model ?? server;
  const shell = responseEnvelope(params, { model, createdAt: Math.floor(Date.now() / 1000) });
  const envelope = materializeResponse(shell as Response);
  yield events.created(envelope);
  const sent: string[] = [];
  for await (const produced of queue) {
    const item = materializeItem(produced);
    sent.push(JSON.stringify(item));
    yield* events.item(item);
  }
  try {
    const { response } = await done;
    const body = { ...materializeResponse(response), id: envelope.id } as JsonObject & { output: unknown[] };
    const { output } = body;
    // An agent may return other items than those of its loop; the last event then contains all of them.
    if (!sent.every((item, index) => item === JSON.stringify(output[index]))) {
      yield events.ended(body, output);
      return;
    }
    for (const item of output.slice(sent.length)) yield* events.item(item);
    yield events.ended(body);
  } catch (error) {
    run.onFailure(error);
    yield events.failed(envelope, errorMessage(error));
  }
}
