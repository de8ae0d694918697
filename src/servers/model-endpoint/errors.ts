import type { ErrorTable } from "../../base/errors.ts";

/** Codes of calls to model endpoints. */
export const modelEndpointErrorCodes = {
  GymError: {
    PROVIDER_URL: {
      when: "The base URL of a model endpoint cannot be used.",
      fix: "Write it like `https://api.example.com/v1`: no query, no credentials, and not the path of a call such as `/chat/completions`.",
    },
    PROVIDER_KEY_FILE: {
      when: "The file of `api_key_file` cannot be read or does not contain exactly one key.",
      fix: "Put only the key into the file.",
    },
    PROVIDER_API_KEY: {
      when: "An API key contains characters that are not valid in an HTTP header, such as an ellipsis or a line break.",
      fix: "Copy the whole key again; surrounding whitespace is ignored.",
    },
    PROVIDER_HEADER: {
      when: "A configured header cannot be sent: its name or value contains characters that are not valid in a header.",
      fix: "Correct the header in `default_headers` or `openai_default_headers`.",
    },
    PROVIDER_STREAM: {
      when: "`extra_body` or `sampling_overrides` of a model server asks endpoints to stream.",
      fix: "Remove `stream`: the gym reads whole answers and streams them to callers that request it.",
    },
    PROVIDER_CACHE: {
      when: "`response_cache_dir` of a model server cannot be created or written to.",
      fix: "Set a folder that this user can write to, or remove the key.",
    },
    PROVIDER_PRICE_UNKNOWN: {
      when: "`max_cost` is set for a model whose price is not known, so the limit cannot be enforced.",
      fix: "Set `prices` of the model server, in dollars per million tokens.",
    },
    PROVIDER_MAX_COST: {
      when: "`max_cost` at the top of the config is not a number of dollars.",
      fix: "Write it like `++max_cost=25`, or leave it out.",
    },
  },
  ProviderError: {
    PROVIDER_AUTH: {
      when: "A model endpoint rejected the key (401, 403), or the account behind it has no credit (402, used-up quota).",
      fix: "Check the key and the account; the message quotes the endpoint.",
    },
    PROVIDER_RATE_LIMIT: {
      when: "A model endpoint kept answering 429 until the retry budget was used up.",
      fix: "Lower the concurrency, or raise `retry_seconds` and `retry_attempts`.",
    },
    PROVIDER_ERROR: {
      when: "A model endpoint rejected the request (other 4xx), or kept failing (5xx) until the retry budget was used up.",
      fix: "Follow the message of the endpoint; for 5xx try later.",
    },
    PROVIDER_CONNECTION: {
      when: "A model endpoint could not be reached, or closed the connection, until the retry budget was used up.",
      fix: "Check that it is running and that host and port are correct.",
    },
    PROVIDER_INVALID_RESPONSE: {
      when: "A model endpoint answered with success and an unusable body: not JSON, another structure, too large, or a redirect.",
      fix: "Check that the base URL is that of the API; the message quotes the body.",
    },
    PROVIDER_BUDGET_EXHAUSTED: {
      when: "The calls of the run, or of one server, have cost as much as `max_cost` allows.",
      fix: "Raise `max_cost` and resume the run.",
    },
  },
  "ProviderError, AttemptTimeout": {
    PROVIDER_TIMEOUT: {
      when: "A model endpoint did not answer in time, as often as the retry budget allows.",
      fix: "Raise `request_timeout_seconds`, or find out why the endpoint is slow.",
    },
  },
} satisfies ErrorTable;
