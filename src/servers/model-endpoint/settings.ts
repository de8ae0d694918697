import { z } from "zod";
import { laxBool, laxFloat, laxInt } from "../../wire/schemas/lax.ts";

const positive = () => laxFloat().pipe(z.number().positive());
const atLeastOne = () => laxInt().pipe(z.number().int().min(1));

/** Prices in dollars per million tokens. */
const priceSchema = z.strictObject({
  input: laxFloat().pipe(z.number().min(0)),
  output: laxFloat().pipe(z.number().min(0)),
  /** Tokens read from the provider's prompt cache; default: the input price. */
  cached_input: laxFloat().pipe(z.number().min(0)).optional(),
  /** Tokens written to the prompt cache; default: the input price. */
  cache_write: laxFloat().pipe(z.number().min(0)).optional(),
});

export type Price = z.output<typeof priceSchema>;

/** Default time limits of a kind of server. */
export interface ProviderDefaults {
  request_timeout_seconds: number;
  retry_seconds: number;
}

/** Hosted APIs answer within minutes or not at all. */
const HOSTED: ProviderDefaults = { request_timeout_seconds: 1_800, retry_seconds: 600 };
/** An engine in a training job may not respond for half an hour during a weight update. */
export const TRAINING: ProviderDefaults = { request_timeout_seconds: 7_200, retry_seconds: 3_600 };

/** The config keys of every model server that calls an external endpoint; spread them into its `config` schema. */
export function providerConfig(defaults: ProviderDefaults = HOSTED) {
  return {
    /** A file that holds the API key, instead of the key itself; read again when the endpoint rejects the key. */
    api_key_file: z.string().nullish(),
    /** Attempts per call for all kinds of failure; null: as many as the time allows. */
    retry_attempts: atLeastOne().nullable().default(20),
    /**
     * Seconds from the first failure after which no new attempt starts, and the longest outage to wait for; null: no limit.
     */
    retry_seconds: positive().nullable().default(defaults.retry_seconds),
    /**
     * Upper bound of the first delay between attempts; it doubles up to the maximum. Each delay is random between 0 and
     * its bound, in addition to `Retry-After`.
     */
    retry_first_pause_seconds: positive().default(0.5),
    retry_longest_pause_seconds: positive().default(30),
    /** Time limit of one attempt from the first byte sent to the last received, in seconds; null: no limit. */
    request_timeout_seconds: positive().nullable().default(defaults.request_timeout_seconds),
    connect_timeout_seconds: positive().default(30),
    /** Maximum size of an answer. */
    max_response_mb: positive().default(256),
    /** Whether the limit on concurrent calls adapts to the endpoint. */
    adaptive_concurrency: laxBool().default(true),
    /** Folder of cached answers for equal requests; null: no cache. */
    response_cache_dir: z.string().nullish(),
    /** Writes to the cache stop at this size. */
    response_cache_max_mb: positive().default(10_240),
    /** Dollars per million tokens of this model. Well-known models have a list price. */
    prices: priceSchema.nullish(),
    /** Budget of this server in dollars; calls beyond it fail as `budget_exhausted`. */
    max_cost: laxFloat().pipe(z.number().min(0)).nullish(),
  };
}

const schema = z.object(providerConfig());
export type ProviderSettings = z.output<typeof schema>;
