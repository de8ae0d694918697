export const atOnce = (work: () => Promise<void>): Promise<void> => work();

/** Does work one after the other, in random order. */
export class OneAtATime {
  readonly #waiting: (() => void)[] = [];
  #busy = false;

  async run(work: () => Promise<void>): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy = true;
    try {
      await work();
    } finally {
      const [next] = this.#waiting.splice(Math.floor(Math.random() * this.#waiting.length), 1);
      if (next) next();
      else this.#busy = false;
    }
  }
}
