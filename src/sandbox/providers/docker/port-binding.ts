import { SandboxOperationError } from "../../errors.ts";
import { bracketed } from "./run-arguments.ts";

/** The URL for what `docker port` prints, one `host:port` a line; the loopback address is preferred. */
export function endpointFrom(printed: string, port: number, publishHost: string): string {
  const bindings = printed
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const binding = bindings.find((line) => line.startsWith("127.0.0.1:")) ?? bindings[0] ?? "";
  const [, written, digits] = /^(.*):(\d+)$/.exec(binding) ?? [];
  const hostPort = Number(digits);
  if (written === undefined || !(hostPort >= 1 && hostPort <= 65_535))
    throw new SandboxOperationError(
      `docker port names no address for port ${port}: ${JSON.stringify(printed)}`,
    );
  const host = written.replace(/^\[|\]$/g, "");
  // An address that means "all" is none to connect to.
  const reachable = ["", "0.0.0.0", "::"].includes(host) ? publishHost : host;
  return `http://${bracketed(reachable)}:${hostPort}`;
}
