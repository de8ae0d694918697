import { applyOverrides } from "../../config/apply-overrides.ts";
import { plainFromNode } from "../../config/plain-data.ts";
import type { CommandContext } from "../command.ts";
import { type KeyTable, type KeyValues, readKeys } from "../config-keys.ts";

/**
 * The keys of a listing, from flags and overrides alone: a listing needs no config, and one that is broken must not keep
 * anybody from looking around.
 */
export function listingKeys<const T extends KeyTable>(context: CommandContext, table: T): KeyValues<T> {
  const given = plainFromNode(applyOverrides(context.overrides, context.env)) as Record<string, unknown>;
  return readKeys(table, { get: (key) => (Object.hasOwn(given, key) ? given[key] : undefined) });
}

export const commonKeys = {
  component_name: { type: "str", help: "the component to show" },
  query: { type: "str", help: "words to look for" },
} as const satisfies KeyTable;
