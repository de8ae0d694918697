import { createRequire } from "node:module";
import type { Client as ClientClass } from "undici";

// A part of the library instead of the whole, which would take longer to load than everything else a server needs.
const require = createRequire(import.meta.url);

export const Client = require("undici/lib/dispatcher/client.js") as typeof ClientClass;
