import type { ResolvedConfig } from "../../config/door.ts";
import { CommandKeysError } from "../errors.ts";

/**
 * Some model configs contain their provider's address. A different address on the command line would send key and
 * prompts to a host that was not typed, so it is an error.
 */
export function rejectUnusedModelUrl(
  flags: Readonly<Record<string, unknown>>,
  config: Pick<ResolvedConfig, "servers">,
): void {
  const url = flags["model-url"];
  if (typeof url !== "string") return;
  const models = config.servers.filter(({ type }) => type === "responses_api_models");
  const addresses = models.map((server) => ({ server, own: addressOf(server.config, url) }));
  const [first] = addresses;
  // A server without an address, such as a random model, ignores the flag.
  if (!first || addresses.some(({ own }) => own === undefined || own.isGiven)) return;
  const { server, own } = first;
  const key = `${server.name}.${server.type}.${server.implementation}.${own?.key}`;
  throw new CommandKeysError(
    `argument --model-url: has no effect here: the config of '${server.name}' calls ${own?.address}. ` +
      `To call another address with it, set ++${key}=${url}; for an endpoint of another kind choose another --model-type.`,
  );
}

function addressOf(config: Readonly<Record<string, unknown>>, url: string) {
  for (const [key, value] of Object.entries(config)) {
    if (!key.endsWith("base_url")) continue;
    const addresses = [value].flat().filter((address): address is string => typeof address === "string");
    if (addresses.length > 0)
      return {
        key,
        address: addresses.join(", "),
        isGiven: addresses.some((address) => address.includes(url)),
      };
  }
  return undefined;
}
