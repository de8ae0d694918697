import { GymError } from "../errors.ts";

export type QueueErrorCode =
  | "QUEUE_URL"
  | "QUEUE_CREDENTIALS"
  | "QUEUE_UNREACHABLE"
  | "QUEUE_REFUSED"
  | "QUEUE_NO_JETSTREAM"
  | "QUEUE_RUN_UNKNOWN"
  | "QUEUE_WORKER_UNKNOWN"
  | "QUEUE_CONTROL"
  | "QUEUE_STORE"
  | "QUEUE_SERVER";

/** Something is wrong between this process, the broker and the store of a run. */
export class QueueError extends GymError {
  constructor(code: QueueErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}
