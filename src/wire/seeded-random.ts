import { createHash } from "node:crypto";
import type { RandomSource } from "./sample-schema.ts";

/** A small generator (mulberry32) whose numbers depend on nothing but the parts of its seed. */
export function seededRandom(...parts: readonly (string | number)[]): RandomSource {
  let state = createHash("sha256").update(JSON.stringify(parts)).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
