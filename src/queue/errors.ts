import { type ErrorCodeRow, GymError } from "../errors.ts";

export type QueueErrorCode = (typeof queueErrorCodes)[number]["code"];

/** Something is wrong between this process, the broker and the store of a run. */
export class QueueError extends GymError {
  constructor(code: QueueErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** Codes of runs in workers. */
export const queueErrorCodes = [
  {
    code: "QUEUE_URL",
    class: "QueueError",
    when: "The address of the broker cannot be read.",
    fix: "Write it as nats://host:4222, or tls://host:4222 to insist on TLS.",
  },
  {
    code: "QUEUE_CREDENTIALS",
    class: "QueueError",
    when: "A file with credentials of the broker cannot be read or holds something else, or a worker lacks secrets of the run's config.",
    fix: "Correct the path; set the secrets named in env.yaml of the worker or as overrides.",
  },
  {
    code: "QUEUE_UNREACHABLE",
    class: "QueueError",
    when: "No broker answers at the address, or it was away for longer than queue_outage_seconds.",
    fix: "Start one (`gym queue up`), or correct --queue or NATS_URL.",
  },
  {
    code: "QUEUE_REFUSED",
    class: "QueueError",
    when: "The broker refused the login.",
    fix: "Set NATS_USER and NATS_PASSWORD, NATS_CREDS or NATS_NKEY, or the keys queue_user, queue_password, queue_creds_file or queue_nkey_file.",
  },
  {
    code: "QUEUE_UNTRUSTED",
    class: "QueueError",
    when: "The broker's TLS certificate is signed by an unknown authority, is for another name, or has expired.",
    fix: "Set NATS_CA or queue_tls_ca_file to the certificate of its authority.",
  },
  {
    code: "QUEUE_NO_JETSTREAM",
    class: "QueueError",
    when: "The broker runs without JetStream.",
    fix: "Start it with `nats-server -js`.",
  },
  {
    code: "QUEUE_FULL",
    class: "QueueError",
    when: "The broker took no more references of a run for queue_outage_seconds: its storage is full, or 2,000,000 wait.",
    fix: "Start workers, remove old runs (`gym queue purge`) or give the broker more storage; then resume the run.",
  },
  {
    code: "QUEUE_RUN_UNKNOWN",
    class: "QueueError",
    when: "The broker has no run with this id.",
    fix: "See `gym queue status`.",
  },
  {
    code: "QUEUE_WORKER_UNKNOWN",
    class: "QueueError",
    when: "No worker with this id has reported of late.",
    fix: "See `gym queue status`.",
  },
  {
    code: "QUEUE_CONTROL",
    class: "QueueError",
    when: "A collector or worker does not answer `gym eval ctl`.",
    fix: "See whether it still runs and reaches the broker.",
  },
  {
    code: "QUEUE_STORE",
    class: "QueueError",
    when: "The store of a run cannot listen, or a worker cannot reach it.",
    fix: "Set queue_store_host and queue_store_port to an address of the collector that workers reach.",
  },
  {
    code: "QUEUE_SERVER",
    class: "QueueError",
    when: "`gym queue up` finds no nats-server, or its port is in use.",
    fix: "Install it: `apt-get install nats-server`; choose another port with --port.",
  },
] as const satisfies readonly ErrorCodeRow[];
