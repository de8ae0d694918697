/** Timers cannot be longer, in milliseconds; whoever waits that long may look again. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
