import { abortController, untilAborted } from "../base/transport/light-door.ts";

interface RunningTask<T> {
  result: Promise<T>;
  controller: AbortController;
  waiting: number;
}

/** Runs a task once for all callers with the same key. It stops when no caller waits for it any more. */
export class SharedTasks<T> {
  readonly #running = new Map<string, RunningTask<T>>();

  /** The caller's signal ends only its own wait. */
  async run(
    key: string,
    task: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    signal?.throwIfAborted();
    const running = this.#running.get(key) ?? this.#start(key, task);
    running.waiting++;
    try {
      return await (signal ? untilAborted(running.result, signal) : running.result);
    } finally {
      running.waiting--;
      if (running.waiting === 0) this.#end(key, running);
    }
  }

  #start(key: string, task: (signal: AbortSignal) => Promise<T>): RunningTask<T> {
    const controller = abortController();
    const running = { result: task(controller.signal), controller, waiting: 0 };
    this.#running.set(key, running);
    return running;
  }

  /** A task that is being stopped must not get new callers. */
  #end(key: string, running: RunningTask<T>): void {
    this.#running.delete(key);
    running.controller.abort();
  }
}
