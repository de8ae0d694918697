import { AlmostServerError, place } from "../errors.ts";
import { rawNodeAt } from "../key-path.ts";
import { positionOf } from "../node.ts";
import type { SchemaProblem } from "../schema-problems.ts";
import type { AlmostServer } from "./server-schema.ts";

const RULE = "=".repeat(72);

/** The framed warning about blocks that look like servers. */
export function almostServersNotice(almostServers: readonly AlmostServer[]): string {
  const sections = almostServers.map((server) =>
    [
      `Almost-Server Detected: '${server.name}'`,
      ...server.problems.map(
        (problem) => `  - ${problem.path.join(" -> ")}: ${problem.message}${where(server, problem)}`,
      ),
      "  This server will NOT be started.",
    ].join("\n"),
  );
  return [RULE, "Configuration Warnings: Almost-Servers Detected", RULE, sections.join("\n\n"), RULE].join(
    "\n",
  );
}

/** `maskedYaml` shows the blocks in question with secrets hidden. */
export function almostServersError(
  almostServers: readonly AlmostServer[],
  maskedYaml: string,
): AlmostServerError {
  return new AlmostServerError(
    `${almostServers.length} almost-server(s) found: ${almostServers.map(({ name }) => `'${name}'`).join(", ")}. ` +
      "Correct the fields listed above, or pass ++error_on_almost_servers=false to start without them.\n" +
      maskedYaml,
    { position: positionOf(almostServers[0]?.node) },
  );
}

/** Where the value is written, or the block that lacks it. */
function where({ node }: AlmostServer, { path }: SchemaProblem): string {
  return place(positionOf(rawNodeAt(node, path) ?? rawNodeAt(node, path.slice(0, -1))));
}
