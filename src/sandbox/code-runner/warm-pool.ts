const IDLE_MS = 30_000;

/** An item that takes time to start and is used once. */
interface Warm {
  stop(): Promise<void>;
}

/**
 * Keeps a few items started in advance. It begins after the second use, because the first may be the only one. Items that
 * stay unused for a while are stopped.
 */
export class WarmPool<T extends Warm> {
  readonly #start: () => Promise<T>;
  readonly #size: number;
  #ready: Promise<T | undefined>[] = [];
  #idle: NodeJS.Timeout | undefined;
  #taken = 0;
  #closed = false;

  constructor(start: () => Promise<T>, size: number) {
    this.#start = start;
    this.#size = size;
  }

  /** Returns a started item. The caller must stop it. */
  async take(): Promise<T> {
    const warm = this.#ready.shift();
    const taken = (await warm) ?? (await this.#start());
    this.#taken++;
    if (this.#taken > 1) this.#refill();
    return taken;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#empty();
  }

  #refill(): void {
    clearTimeout(this.#idle);
    if (this.#closed) return;
    this.#idle = setTimeout(() => void this.#empty(), IDLE_MS).unref();
    while (this.#ready.length < this.#size) {
      // If the start fails, `take` starts another item and reports the failure.
      this.#ready.push(this.#start().catch(() => undefined));
    }
  }

  async #empty(): Promise<void> {
    clearTimeout(this.#idle);
    const ready = this.#ready.splice(0);
    await Promise.all(ready.map(async (warm) => (await warm)?.stop()));
  }
}
