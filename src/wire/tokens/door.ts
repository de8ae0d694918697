/** Token ids for training. */

export { withoutTokens } from "./token-fields.ts";
export { rebuildFromTokens, type TokenRecord } from "./token-rebuild.ts";
export {
  DRIFT_POLICIES,
  type DriftPolicy,
  sequencesOf,
  TOKEN_PROJECTIONS,
  type TokenFormat,
  type TokenSequence,
  TokenSequenceError,
  tokenCallsOf,
} from "./token-sequences.ts";
