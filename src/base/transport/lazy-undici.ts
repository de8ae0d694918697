import { createRequire } from "node:module";
import type * as Undici from "undici";

let loaded: typeof Undici | undefined;

/** undici has more than 100 modules. It is loaded with the first client, because many commands send no requests. */
export function undici(): typeof Undici {
  loaded ??= createRequire(import.meta.url)("undici") as typeof Undici;
  return loaded;
}
