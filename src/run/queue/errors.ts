import { type CodesOf, type ErrorTable, GymError } from "../../base/errors.ts";

export type QueueErrorCode = CodesOf<typeof queueErrorCodes>;

/** An error between this process, the broker and the store of a run. */
export class QueueError extends GymError {
  constructor(code: QueueErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** Codes of runs in workers. */
export const queueErrorCodes = {
  QueueError: {
    QUEUE_URL: {
      when: "The address of the broker cannot be read.",
      fix: "Write it as nats://host:4222, or tls://host:4222 to insist on TLS.",
    },
    QUEUE_CREDENTIALS: {
      when: "A file with credentials of the broker cannot be read or holds something else, or a worker lacks secrets of the run's config.",
      fix: "Correct the path; set the secrets named in env.yaml of the worker or as overrides.",
    },
    QUEUE_UNREACHABLE: {
      when: "No broker answers at the address, or it was unreachable for longer than queue_outage_seconds.",
      fix: "Start one (`gym queue up`), or correct --queue or NATS_URL.",
    },
    QUEUE_REFUSED: {
      when: "The broker rejected the login.",
      fix: "Set NATS_USER and NATS_PASSWORD, NATS_CREDS or NATS_NKEY, or the keys queue_user, queue_password, queue_creds_file or queue_nkey_file.",
    },
    QUEUE_UNTRUSTED: {
      when: "The broker's TLS certificate is signed by an unknown authority, is for another name, or has expired; or the broker is on this machine and belongs to another user.",
      fix: "Set NATS_CA or queue_tls_ca_file to the certificate of its authority; set queue_owner to the uid of the user who runs the broker.",
    },
    QUEUE_SANDBOX: {
      when: "The config of a run has `sandbox: none`, and the worker does not allow it.",
      fix: "Remove the key from the run, or start the worker with --allow-no-sandbox.",
    },
    QUEUE_NO_JETSTREAM: {
      when: "The broker runs without JetStream.",
      fix: "Start it with `nats-server -js`.",
    },
    QUEUE_FULL: {
      when: "The broker took no more references of a run for queue_outage_seconds: its storage is full, or 2,000,000 wait.",
      fix: "Start workers, remove old runs (`gym queue purge`) or give the broker more storage; then resume the run.",
    },
    QUEUE_RUN_UNKNOWN: {
      when: "The broker has no run with this id.",
      fix: "See `gym queue status`.",
    },
    QUEUE_WORKER_UNKNOWN: {
      when: "No worker with this id has reported recently.",
      fix: "See `gym queue status`.",
    },
    QUEUE_CONTROL: {
      when: "A collector or worker does not answer `gym eval ctl`.",
      fix: "See whether it still runs and reaches the broker.",
    },
    QUEUE_STORE: {
      when: "The store of a run cannot listen, or a worker cannot reach it.",
      fix: "Set queue_store_host and queue_store_port to an address of the collector that workers reach.",
    },
    QUEUE_SERVER: {
      when: "`gym queue up` finds no nats-server, or its port is in use.",
      fix: "Install it: `apt-get install nats-server`; choose another port with --port.",
    },
  },
} satisfies ErrorTable;
