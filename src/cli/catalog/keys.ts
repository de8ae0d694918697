import type { CommandContext } from "../command.ts";
import { type KeyTable, type KeyValues, readKeys } from "../config-keys.ts";

/**
 * The keys of a command from flags and overrides alone, for commands that need no config: one that is broken must not keep
 * anybody from looking around.
 */
export async function listingKeys<const T extends KeyTable>(
  context: CommandContext,
  table: T,
): Promise<KeyValues<T>> {
  const given = await givenValues(context);
  return readKeys(table, { get: (key) => (Object.hasOwn(given, key) ? given[key] : undefined) });
}

/** What flags say is final; only the user's own words need the override grammar, which takes time to load. */
async function givenValues({ overrides, env }: CommandContext): Promise<Record<string, unknown>> {
  const flags = overrides.filter((override) => typeof override !== "string");
  if (flags.length === overrides.length)
    return Object.fromEntries(flags.map(({ path, value }) => [path, value]));
  const [{ applyOverrides }, { plainFromNode }] = await Promise.all([
    import("../../config/overrides/apply-overrides.ts"),
    import("../../config/plain-data.ts"),
  ]);
  return plainFromNode(applyOverrides(overrides, env)) as Record<string, unknown>;
}

export const commonKeys = {
  component_name: { type: "str", help: "the component to show" },
  query: { type: "str", help: "words to look for" },
} as const satisfies KeyTable;
