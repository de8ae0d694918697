import type { Override } from "../config/resolve.ts";
import { getCloseMatches } from "../python/difflib.ts";
import type { KeyTable } from "./config-keys.ts";
import { UsageError } from "./usage-error.ts";

const NEARNESS = 0.85;

/** Refuses `+key=…` where the key is nearly, but not quite, one the command reads: nothing would ever look at it. */
export function refuseMisspeltKeys(table: KeyTable, overrides: readonly Override[]): void {
  const known = Object.keys(table);
  for (const word of overrides) {
    if (typeof word !== "string") continue;
    const key = /^\+{1,2}([^.=@+]+)/.exec(word)?.[1];
    if (key === undefined || known.includes(key)) continue;
    const [nearest] = getCloseMatches(key, known, 1, NEARNESS);
    if (nearest !== undefined)
      throw new UsageError(`argument ${word}: nothing reads the key '${key}'. Did you mean \`${nearest}\`?`);
  }
}
