/** How the tokens of calls continue each other, without Node's modules, for the viewer's page. */

export {
  type Boundary,
  type CallTokens,
  type Continuity,
  callsOf,
  classifyBoundary,
  classifyCalls,
  placedCallsOf,
} from "./token-continuity.ts";
