import { knownKeys, type ReservedKey, reservedKeys } from "../../src/config/reserved-keys.ts";
import { GENERATED, markdownTable } from "./markdown.ts";

/** docs/reference/config-keys.md: the top-level keys with a meaning of their own. */
export function configKeysPage(): string {
  const table = (keys: readonly ReservedKey[]) =>
    markdownTable(
      ["Key", "Default", "Meaning"],
      keys.map((row) => [
        `\`${row.key}\``,
        row.default === undefined ? "" : `\`${row.default}\``,
        row.description,
      ]),
    );
  const parts = [
    "# Config keys",
    GENERATED,
    "Every other top-level key of a config is a server instance or plain data. Keys that only one command reads are on " +
      "[its page](cli.md).",
    "## Reserved",
    "A server instance cannot have one of these names. Defaults are written in this order.",
    table(reservedKeys),
    "## Known",
    table(knownKeys),
  ];
  return `${parts.join("\n\n")}\n`;
}
