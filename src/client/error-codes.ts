import type { ErrorCodeRow } from "../errors.ts";

/** Codes of calls from one server to another. */
export const clientErrorCodes = [
  {
    code: "SERVER_CALL",
    class: "ServerCallError",
    when: "A server or the provider behind it answered with an error, in time or not at all; the message names host and status.",
    fix: "Follow the message: it is that of the first thing that failed.",
  },
  {
    code: "UNKNOWN_SERVER",
    class: "GymError",
    when: "A call names a server that is not part of this run.",
    fix: "Use one of the names listed, or add the server to the config.",
  },
  {
    code: "PROVIDER_URL",
    class: "GymError",
    when: "The URL of a model endpoint cannot be used.",
    fix: "Correct the config key named.",
  },
  {
    code: "PROVIDER_AUTH",
    class: "ProviderError",
    when: "A model endpoint refuses the key.",
    fix: "Check the key, and that it may use the model.",
  },
  {
    code: "PROVIDER_RATE_LIMIT",
    class: "ProviderError",
    when: "A model endpoint asks for fewer requests, longer than the retries last.",
    fix: "Lower the concurrency, or raise the limits at the provider.",
  },
  {
    code: "PROVIDER_ERROR",
    class: "ProviderError",
    when: "A model endpoint answers with another error; the message quotes it.",
    fix: "Follow the message of the endpoint.",
  },
  {
    code: "PROVIDER_TIMEOUT",
    class: "ProviderError",
    when: "A model endpoint does not answer in time.",
    fix: "Raise the time limit, or lower the load on the endpoint.",
  },
  {
    code: "PROVIDER_CONNECTION",
    class: "ProviderError",
    when: "A model endpoint cannot be reached.",
    fix: "Check its URL and that it runs.",
  },
  {
    code: "PROVIDER_INVALID_RESPONSE",
    class: "ProviderError",
    when: "A model endpoint answers with something that is no model response.",
    fix: "Check that the URL leads to the API and not to a web page or proxy.",
  },
  {
    code: "PROVIDER_BUDGET_EXHAUSTED",
    class: "ProviderError",
    when: "The retries allowed for a model call are used up.",
    fix: "See the error it quotes; raise the budget if the endpoint is only slow.",
  },
] as const satisfies readonly ErrorCodeRow[];
