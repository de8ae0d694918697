/** Scoring the rollouts of a run again. */

export { type ReverifyOptions, reverify } from "./reverify.ts";
