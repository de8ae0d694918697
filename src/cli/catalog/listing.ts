import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { impliedEntry } from "../../config/light-door.ts";
import type { CommandContext } from "../command.ts";
import { hint } from "../hint.ts";
import { renderTable, type Table } from "../render/table.ts";
import { ConfigFiles } from "../workloads/catalog/config-files.ts";

/** Returns the config files under the search roots of the command. */
export function openCatalog({ io, env, installRoot }: CommandContext): ConfigFiles {
  return new ConfigFiles({ cwd: io.cwd, env, installRoot });
}

interface Listing {
  /** The noun for the message about an empty list. */
  readonly plural: string;
  readonly query?: string;
  readonly rows: readonly object[];
  /** What is printed without `--json`. */
  readonly table: Table;
  /** What a terminal gets instead of the table. */
  readonly text?: () => string;
}

/** What a terminal gets as a table; a pipe gets plain lines. */
export function printTable({ out, terminal }: CommandContext, table: Table): void {
  out(terminal.isTty ? renderTable(table, terminal) : plainLines(table));
}

/** A line for each row, its cells separated by tabs, for `cut`, `grep` and other programs in a pipe. */
function plainLines({ rows }: Table): string {
  return rows.map((cells) => cells.map((cell) => cell.replace(/\s+/g, " ")).join("\t")).join("\n");
}

/** Prints a listing as text or as JSON, or a message that it is empty. */
export function printListing(context: CommandContext, listing: Listing): number {
  const { json, out, terminal } = context;
  if (json) out(JSON.stringify(listing.rows));
  else if (listing.rows.length === 0) {
    const { plural, query } = listing;
    out(terminal.yellow(query === undefined ? `No ${plural} found.` : `No ${plural} match '${query}'.`));
  } else if (listing.text && terminal.isTty) out(listing.text());
  else printTable(context, listing.table);
  return 0;
}

/** One component, as `gym list <type> NAME` shows it. */
export interface Inspection {
  readonly name: string;
  readonly type: string;
  readonly domain?: string;
  readonly description?: string;
  readonly details: Readonly<Record<string, string | undefined>>;
  readonly usage?: string;
}

/** The real path of a config or, for a server without one, of its code. */
export function configPlace(file: string): string {
  const place = existsSync(file) ? file : impliedEntry(path.dirname(path.dirname(file)));
  return realpathSync(place ?? file);
}

export function printInspection({ json, out, terminal }: CommandContext, inspection: Inspection): number {
  const { name, type, domain, description, usage } = inspection;
  const details = Object.entries(inspection.details).filter(
    ([, value]) => value !== undefined && value !== "",
  );
  if (json) {
    const shown = { name, type, domain: domain ?? null, description: description ?? null };
    out(JSON.stringify({ ...shown, details: Object.fromEntries(details), usage_example: usage ?? null }));
    return 0;
  }
  const sections = [
    `The ${terminal.bold(name)} ${type}${domain === undefined ? "" : ` (domain: ${domain})`}`,
  ];
  if (description !== undefined) sections.push(description);
  if (details.length > 0) {
    const lines = details.map(([label, value]) => `${label}: ${value}`);
    sections.push([terminal.bold("Details:"), ...lines].join("\n"));
  }
  if (usage !== undefined) sections.push(`${terminal.bold("Usage example:")}\n${usage}`);
  out(sections.join("\n\n"));
  return 0;
}

/** Prints that the component does not exist, and the nearest name. */
export function printUnknown(
  { out, terminal }: CommandContext,
  type: string,
  name: string,
  known: Iterable<string>,
): number {
  const names = [...known].sort();
  const nearest = hint(name, names) || ` There are: ${names.join(", ")}.`;
  out(`${terminal.red(`Unknown ${type} '${name}'.`)}${nearest}`);
  return 1;
}

/** A component's description with its value as the last line. */
export function withValue(description: string | undefined, value: string | undefined): string | undefined {
  const line = value === undefined ? undefined : `Value: ${value}`;
  return [description, line].filter((part) => part !== undefined).join("\n") || undefined;
}
