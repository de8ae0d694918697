import { redactMessage } from "../secrets.ts";
import { RemoteError } from "./remote-error.ts";

/** An address a user configured, without trailing slashes; `keys` names where it came from. */
export function checkedAddress(given: string, keys: string, example: string): string {
  if (/^https?:\/\//i.test(given) && URL.canParse(given)) return given.replace(/\/+$/, "");
  const shown = redactMessage(given, []);
  throw new RemoteError(
    "REMOTE_ADDRESS_INVALID",
    `'${shown}' (${keys}) is not an address; it must look like ${example}.`,
  );
}
