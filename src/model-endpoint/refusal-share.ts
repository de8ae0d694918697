/** Up to this share of refused calls an endpoint is not overloaded: gateways refuse single calls for many reasons. */
const TOLERATED_SHARE = 0.1;
const SMALLEST_WINDOW = 64;

/**
 * The share of recent calls that an endpoint refused. Counts are halved when they reach about two round trips, so that older calls
 * weigh less and less.
 */
export class RefusalShare {
  #refused = 0;
  #calls = 0;

  /** Counts a call that ended while `running` calls ran. Returns the share. */
  add(refused: boolean, running: number): number {
    if (this.#calls >= Math.max(SMALLEST_WINDOW, 2 * running)) {
      this.#calls /= 2;
      this.#refused /= 2;
    }
    this.#calls++;
    if (refused) this.#refused++;
    return this.#refused / this.#calls;
  }

  /** Whether so few calls are refused that nothing has to change. */
  get isScattered(): boolean {
    return this.#refused <= TOLERATED_SHARE * this.#calls;
  }
}
