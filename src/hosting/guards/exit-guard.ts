import { GymError } from "../../errors.ts";
import { callingFiles, type HostedCode, serverOfFile } from "./hosted-code.ts";

/** The code of a server called `process.exit`. */
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
 * Makes `process.exit` throw when code of these servers calls it: the current call fails and the run continues. The
 * stack identifies the caller, so there is no cost until then. Returns a function that restores `process.exit`.
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
