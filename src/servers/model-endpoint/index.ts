/**
 * Calls to model endpoints for model servers: limits, retries, budgets and provider errors.
 *
 * @module
 */

export { redactor } from "../../base/secrets.ts";
export { withDeadline } from "../../base/transport/light-door.ts";
export { billedCompletion, billedResponse } from "./cost.ts";
export { type OpenProviderOptions, openProvider } from "./open-provider.ts";
export type { Provider } from "./provider.ts";
export type { ProviderCall, ProviderReply } from "./provider-call.ts";
export { isProviderError, ProviderError } from "./provider-error.ts";
export { type ProviderSettings, providerConfig, TRAINING } from "./settings.ts";
