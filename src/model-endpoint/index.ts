/**
 * What a model server needs to call an endpoint: limits, retries, budgets and errors of a provider.
 *
 * @module
 */
export { withDeadline } from "../calls/deadline.ts";
export { redactor } from "../secrets.ts";
export { billedCompletion, billedResponse } from "./cost.ts";
export { type OpenProviderOptions, openProvider } from "./open-provider.ts";
export type { Provider, ProviderCall, ProviderReply } from "./provider.ts";
export { isProviderError, ProviderError } from "./provider-error.ts";
export { HOSTED, type ProviderSettings, providerConfig, TRAINING } from "./settings.ts";
