import { errorMessage } from "../../errors.ts";
import type { Broker } from "../../queue/broker.ts";
import { cancelSubject } from "../../queue/control.ts";
import { removeReference } from "../../queue/run-stream.ts";
import { type RolloutRef, streamOf } from "../../queue/subjects.ts";

/** Above this number, the whole stream is purged instead of withdrawing rollouts one by one. */
const WITHDRAWN_SINGLY = 50;

/** Withdraws rollouts from the broker and its workers, in batches. */
export class Withdrawals {
  readonly #run: string;
  readonly #broker: Broker;
  readonly #onNotice: (text: string) => void;
  #refs: RolloutRef[] = [];

  constructor(run: string, broker: Broker, onNotice: (text: string) => void) {
    this.#run = run;
    this.#broker = broker;
    this.#onNotice = onNotice;
  }

  add(ref: RolloutRef): void {
    if (this.#refs.length === 0) setImmediate(() => void this.#withdrawAll());
    this.#refs.push(ref);
  }

  async #withdrawAll(): Promise<void> {
    const refs = this.#refs;
    this.#refs = [];
    const { connection, jsm } = this.#broker;
    const cancel = (which: object) => connection.publish(cancelSubject(this.#run), JSON.stringify(which));
    try {
      if (refs.length > WITHDRAWN_SINGLY) {
        cancel({ all: true });
        await jsm.streams.purge(streamOf(this.#run));
        return;
      }
      for (const ref of refs) {
        cancel({ task: ref.task, rollout: ref.rollout });
        await removeReference(jsm, ref);
      }
    } catch (error) {
      this.#onNotice(`Withdrawn rollouts may still run in workers: ${errorMessage(error)}`);
    }
  }
}
