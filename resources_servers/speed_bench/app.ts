import { defineResourcesServer, GymError } from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { request } from "undici";
import { z } from "zod";
import { NOTHING, sglang, vllm } from "./counters.ts";
import { speedMetrics } from "./metrics.ts";

const SCRAPE_MS = 30_000;

/** Reads a page; undefined if the server does not answer with 200. */
export type Scrape = (url: string, signal: AbortSignal) => Promise<string | undefined>;

const Config = z.object({
  vllm_metrics_url: z.string().nullish(),
  /** The address of the model's API; `/metrics` is beside `/v1`. */
  vllm_base_url: z.string().nullish(),
  server_type_for_metrics: z.enum(["vllm", "sglang"]).default("vllm"),
  /** Takes the first counters when the server starts, not with the first rollout. */
  snapshot_at_init: laxBool().default(false),
});
type Config = z.output<typeof Config>;

function metricsUrl({ vllm_metrics_url, vllm_base_url }: Config): string {
  if (vllm_metrics_url) return vllm_metrics_url;
  if (vllm_base_url) return `${vllm_base_url.replace(/\/+$/, "").replace(/\/v1$/, "")}/metrics`;
  throw new GymError("SPEED_BENCH_CONFIG", "speed_bench needs vllm_base_url or vllm_metrics_url.");
}

/** Reads the counters of the inference server. The difference is always to the first counters. */
class Meter {
  readonly #reader: { read(text: string): unknown; between(before: never, after: never): typeof NOTHING };
  readonly #scrape: (signal: AbortSignal) => Promise<string | undefined>;
  #before: Promise<unknown> | undefined;
  #started = performance.now();
  unavailable = false;

  constructor(config: Config, scrape: Scrape) {
    const url = metricsUrl(config);
    this.#reader = config.server_type_for_metrics === "sglang" ? sglang : vllm;
    this.#scrape = (signal) => scrape(url, signal);
  }

  get seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  begin(signal: AbortSignal): Promise<unknown> {
    if (this.#before === undefined) this.#started = performance.now();
    this.#before ??= this.#read(signal);
    return this.#before;
  }

  async measure(signal: AbortSignal): Promise<typeof NOTHING> {
    const before = await this.begin(signal);
    const after = this.unavailable ? undefined : await this.#read(signal);
    return after === undefined ? NOTHING : this.#reader.between(before as never, after as never);
  }

  async #read(signal: AbortSignal): Promise<unknown> {
    const counters = this.#reader.read((await this.#scrape(signal)) ?? "");
    if (counters === undefined) this.unavailable = true;
    return counters;
  }
}

/** Measures speculative decoding while a model answers; there is nothing to be right or wrong about. */
export const speedBench = (scrape: Scrape) =>
  defineResourcesServer({
    config: Config,
    row: z.looseObject({ verifier_metadata: z.unknown().optional() }),
    reverifyMode: "unsupported",
    metrics: speedMetrics,
    async start({ config }) {
      const meter = new Meter(config, scrape);
      if (config.snapshot_at_init) await meter.begin(AbortSignal.timeout(SCRAPE_MS));
      return meter;
    },
    async verify({ response, state: meter, signal }) {
      const speculation = await meter.measure(signal);
      return {
        reward: 0,
        num_generated_tokens: response.usage?.output_tokens ?? 0,
        gen_seconds: meter.seconds,
        ...speculation,
        spec_decode_unavailable: meter.unavailable,
      };
    },
  });

export default speedBench(async (url, signal) => {
  try {
    const { statusCode, body } = await request(url, {
      signal,
      headersTimeout: SCRAPE_MS,
      bodyTimeout: SCRAPE_MS,
    });
    const text = await body.text();
    return statusCode === 200 ? text : undefined;
  } catch {
    signal.throwIfAborted();
    // Reported as spec_decode_unavailable.
    return undefined;
  }
});
