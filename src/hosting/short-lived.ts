import { setFlagsFromString } from "node:v8";

/**
 * Tells V8 not to guess which objects will live long. It sees many calls wait for their model at once, takes what they hold for
 * lasting and puts all that comes later from the same code straight among the old objects, where nothing is freed for a
 * long time and whatever it points to stays as well: the same run then needs three times the garbage collection, in about
 * every second start.
 */
export function expectShortLives(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}
