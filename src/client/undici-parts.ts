import { createRequire } from "node:module";
import type { Client as ClientClass, Pool as PoolClass } from "undici";

// Parts of the library instead of the whole, which would take longer to load than everything else a server needs.
const require = createRequire(import.meta.url);

export const Client = require("undici/lib/dispatcher/client.js") as typeof ClientClass;

export function loadPool(): typeof PoolClass {
  return require("undici/lib/dispatcher/pool.js") as typeof PoolClass;
}
