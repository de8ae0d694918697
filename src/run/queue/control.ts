import type { Broker } from "./broker.ts";
import { QueueError } from "./errors.ts";

const ANSWER_LIMIT_MS = 5_000;

/** Subjects outside the streams of runs: control messages are not queued. */
export const collectorSubject = (run: string): string => `gym.ctl.run.${run}`;
export const workerSubject = (worker: string): string => `gym.ctl.worker.${worker}`;
export const cancelSubject = (run: string): string => `gym.ctl.cancel.${run}`;

/** Answers requests on a subject until the connection closes. */
export function serveControl(
  { connection }: Broker,
  subject: string,
  answer: (request: string) => object | Promise<object>,
): { close(): void } {
  const subscription = connection.subscribe(subject, {
    callback: (error, message) => {
      if (error) return;
      Promise.resolve()
        .then(() => answer(message.string()))
        .catch((failure: unknown) => ({ ok: false, error: String(failure) }))
        .then((reply) => message.respond(JSON.stringify(reply)));
    },
  });
  return { close: () => subscription.unsubscribe() };
}

/** Asks a collector or a worker; `what` names it in the error when it does not answer. */
export async function askControl<T>(
  { connection }: Broker,
  subject: string,
  request: object,
  what: string,
): Promise<T> {
  try {
    const reply = await connection.request(subject, JSON.stringify(request), { timeout: ANSWER_LIMIT_MS });
    return reply.json<T>();
  } catch (error) {
    throw new QueueError(
      "QUEUE_CONTROL",
      `${what} does not answer: it is stopped, or cut off from the broker.`,
      { cause: error },
    );
  }
}
