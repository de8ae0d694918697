import type { Cookies } from "../../calls/cookies.ts";
import { Reply } from "../../calls/server-call.ts";
import { encodeSse, type SseEvent } from "../../wire/stream/sse.ts";

type Events = Iterable<SseEvent> | AsyncIterable<SseEvent>;

/** An answer as server-sent events. */
export function eventStream(events: Events, options: { cookies?: Cookies } = {}): Reply {
  return new Reply({ stream: frames(events), ...options });
}

async function* frames(events: Events): AsyncGenerator<string> {
  for await (const event of events) yield encodeSse(event);
}
