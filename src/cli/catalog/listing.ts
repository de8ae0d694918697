import { ConfigFiles } from "../../workloads/catalog/config-files.ts";
import type { CommandContext } from "../command.ts";
import type { KeyTable } from "../config-keys.ts";
import { renderTable, type Table } from "../render/table.ts";

/** Returns the config files under the search roots of the command. */
export function openCatalog({ io, env, installRoot }: CommandContext): ConfigFiles {
  return new ConfigFiles({ cwd: io.cwd, env, installRoot });
}

/** What `gym list` and `gym search` have in common. */
export const commonKeys = {
  component_name: { type: "str", help: "the component to show" },
  query: { type: "str", help: "words to look for" },
} as const satisfies KeyTable;

export interface Listing {
  /** The noun for the message about an empty list. */
  readonly plural: string;
  readonly query?: string;
  readonly table: Table;
  readonly rows: readonly object[];
}

/** Prints a listing as a table, as JSON, or says that it is empty. */
export function printListing({ json, out, terminal }: CommandContext, listing: Listing): number {
  if (json) out(JSON.stringify(listing.rows));
  else if (listing.rows.length === 0) {
    const { plural, query } = listing;
    out(terminal.yellow(query === undefined ? `No ${plural} found.` : `No ${plural} match '${query}'.`));
  } else out(renderTable(listing.table, terminal));
  return 0;
}
