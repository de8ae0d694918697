/** The limits and costs of model endpoints. */

export { CostMeter, runMeter } from "./cost.ts";
export { onSlowDown, slowDownEndpoint } from "./endpoint.ts";
export { leastSharedLimit, shareAmongWorkers } from "./limit-shares.ts";
export { providerMessage } from "./read-failure.ts";
