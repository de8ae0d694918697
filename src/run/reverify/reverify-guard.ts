import { failureOf } from "../../calls/errors.ts";
import type { ServerClient } from "../../calls/server-client.ts";
import { RolloutError } from "../../rollouts/errors.ts";

/** The declaration of a resources server about scoring stored rollouts again. */
export type ReverifyMode = "stateless" | "unsupported" | "unknown";

/** Asks each server whether its verifier needs only stored data; a server without that route is `unknown`. */
export async function reverifyModes(
  client: ServerClient,
  servers: Iterable<string>,
  options: { signal?: AbortSignal } = {},
): Promise<Map<string, ReverifyMode>> {
  const modes = new Map<string, ReverifyMode>();
  for (const server of servers) {
    const reply = await client.get(server, "/reverify_mode", options);
    if (reply.status === 404 || reply.status === 405) modes.set(server, "unknown");
    else if (!reply.ok) throw failureOf(server, "/reverify_mode", "verify", reply);
    else modes.set(server, modeOf(reply.json()));
  }
  return modes;
}

function modeOf(answer: unknown): ReverifyMode {
  return answer === "stateless" || answer === "unsupported" ? answer : "unknown";
}

/** The servers whose scores may differ from the original ones, as text; undefined without such servers. */
export function unsafeServers(modes: ReadonlyMap<string, ReverifyMode>): string | undefined {
  const unsafe = [...modes].filter(([, mode]) => mode !== "stateless");
  return unsafe.length === 0 ? undefined : unsafe.map(([server, mode]) => `${server} (${mode})`).join(", ");
}

/** The error for servers that may need the session of the rollout to score it again. */
export function unsafeError(servers: string): RolloutError {
  return new RolloutError(
    "ROLLOUT_REVERIFY_UNSAFE",
    `These resources servers are not declared safe for scoring stored rollouts again: ${servers}. ` +
      "Their verifiers may need the session of the rollout, which is gone. Use --force to do it all the same; the output is then called unsafe_….",
  );
}
