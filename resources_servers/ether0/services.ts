import { HttpError } from "nemo-gym";
import { request } from "undici";
import { z } from "zod";

const MAX_REPLY_CHARS = 1_000_000;

/** The services of the original about molecules and reactions. */
export interface Services {
  /** The logarithm of the solubility. */
  solubility(smiles: string, signal: AbortSignal): Promise<number>;
  purchasable(smiles: readonly string[], signal: AbortSignal): Promise<Readonly<Record<string, boolean>>>;
  /** The product of `reactants>reagents>`. */
  product(reaction: string, signal: AbortSignal): Promise<string>;
}

/** Services below one address. Without an address and on errors the rollout fails: it is not scored. */
export function remoteServices(baseUrl: string | null, timeoutMs: number): Services {
  const ask = async <Schema extends z.ZodType>(
    path: string,
    body: object,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<z.output<Schema>> => {
    if (baseUrl === null)
      throw new HttpError(500, `remote_base_url: this row needs a service that answers ${path}.`);
    try {
      const reply = await request(`${baseUrl}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      const text = (await reply.body.text()).slice(0, MAX_REPLY_CHARS);
      if (reply.statusCode !== 200) throw new Error(`it answered ${reply.statusCode}: ${text.slice(0, 300)}`);
      return schema.parse(JSON.parse(text));
    } catch (error) {
      signal.throwIfAborted();
      throw new HttpError(
        502,
        `${baseUrl}${path}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
  return {
    async solubility(smiles, signal) {
      return (await ask("/compute_solubility", { smiles }, z.looseObject({ mean: z.number() }), signal)).mean;
    },
    purchasable: (smiles, signal) =>
      ask("/is_purchasable", { smiles }, z.record(z.string(), z.boolean()), signal),
    async product(reaction, signal) {
      return (await ask("/translate", { reaction }, z.looseObject({ product: z.string() }), signal)).product;
    },
  };
}
