import { GymError } from "../../errors.ts";
import { callingFiles } from "./calling-code.ts";
import { type HostedCode, serverOfFile } from "./hosted-code.ts";

/** Code of a server wanted to end the process it runs in. */
export class ServerExitError extends GymError {
  readonly server: string;

  constructor(server: string, code: unknown) {
    super(
      "SERVER_EXIT",
      `Server '${server}' called process.exit(${code ?? ""}); a server cannot end the process it runs in: throw an error instead`,
    );
    this.server = server;
  }
}

const guarded = new Set<readonly HostedCode[]>();
let realExit: typeof process.exit | undefined;

/**
 * Lets `process.exit` fail with an error when code of these servers calls it: the call under way fails, the run goes on.
 * The caller is known by its stack, so that it costs nothing until then. Gives back how to end it.
 */
export function guardExit(code: readonly HostedCode[]): () => void {
  guarded.add(code);
  if (realExit === undefined) {
    realExit = process.exit;
    process.exit = exitUnlessHosted as typeof process.exit;
  }
  return () => {
    guarded.delete(code);
    if (guarded.size > 0 || realExit === undefined) return;
    process.exit = realExit;
    realExit = undefined;
  };
}

function exitUnlessHosted(code?: number | string | null): void {
  const server = callingServer();
  if (server !== undefined) throw new ServerExitError(server, code);
  (realExit ?? process.exit)(code);
}

function callingServer(): string | undefined {
  for (const file of callingFiles()) {
    for (const code of guarded) {
      const server = serverOfFile(file, code);
      if (server !== undefined) return server;
    }
  }
  return undefined;
}
