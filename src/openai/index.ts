export { accumulateUsage, sumUsage } from "./accumulate-usage.ts";
export { countingIds, type IdPrefix, type NewId, newId } from "./ids.ts";
export { laxBool, laxFloat, laxInt, strictStr } from "./lax.ts";
export {
  type MaterializedCreateParams,
  type MaterializedResponse,
  materializeCreateParams,
  materializeItem,
  materializeResponse,
} from "./materialize.ts";
export {
  functionCallOutputs,
  functionCalls,
  type HasOutput,
  type LastItemText,
  lastAssistantText,
  lastItemText,
  outputText,
  type ParsedArguments,
  parseArguments,
  readLastItem,
} from "./read-output.ts";
export * from "./responses.ts";
export { type RandomSource, sampleSchema } from "./sample-schema.ts";
export { seededRandom } from "./seeded-random.ts";
export { type ErrorDetail, type Location, ValidationError, zodDetail } from "./validation.ts";
