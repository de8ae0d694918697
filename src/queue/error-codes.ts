import type { ErrorCodeRow } from "../errors.ts";

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
    when: "A file with credentials of the broker cannot be read, or a worker lacks secrets of the run's config.",
    fix: "Correct the path; set the secrets named in env.yaml of the worker or as overrides.",
  },
  {
    code: "QUEUE_UNREACHABLE",
    class: "QueueError",
    when: "No broker answers at the address.",
    fix: "Start one (`gym queue up`), or correct --queue or NATS_URL.",
  },
  {
    code: "QUEUE_REFUSED",
    class: "QueueError",
    when: "The broker refused the login.",
    fix: "Set NATS_USER and NATS_PASSWORD, NATS_CREDS or NATS_NKEY, or the keys queue_user, queue_password, queue_creds_file or queue_nkey_file.",
  },
  {
    code: "QUEUE_NO_JETSTREAM",
    class: "QueueError",
    when: "The broker runs without JetStream.",
    fix: "Start it with `nats-server -js`.",
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
    when: "`gym queue up` finds no nats-server.",
    fix: "Install it: `apt-get install nats-server`.",
  },
] as const satisfies readonly ErrorCodeRow[];
