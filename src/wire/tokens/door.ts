/** Token ids for training. */

export { withoutTokens } from "./token-fields.ts";
export { rebuildFromTokens, type TokenRecord } from "./token-rebuild.ts";
