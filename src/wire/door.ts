/** What the members of a body mean: ids, results, text. */

export { newId } from "./ids.ts";
export { stripMcpPrefix, textParts } from "./read-output.ts";
export { resultJson } from "./result-json.ts";
export {
  idInRow,
  isPrefixed,
  isRolloutId,
  ROLLOUT_HEADER,
  ROLLOUT_START_HEADER,
  rolloutIdOf,
  rolloutPrefix,
  splitRolloutPrefix,
} from "./rollout-id.ts";
export { sampleSchema, seededRandom } from "./sample-schema.ts";
