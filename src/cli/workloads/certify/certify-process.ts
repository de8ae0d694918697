import type { TargetOptions } from "../audit/targets.ts";
import { runWatchedChild, type WatchedChildOptions } from "../audit/watched-child.ts";
import { AuditError } from "../errors.ts";
import type { Certified, CertifyOptions } from "./certify.ts";

export type CertifyRequest = TargetOptions &
  Pick<CertifyOptions, "level" | "against" | "runs" | "mutants" | "hanging">;

/** A fault with a number, in a message of the child. */
const MUTANT = /hung for .* at: .*mutant (\d+): /;
const MAX_HANGING = 5;

/** Certifies the servers of a config in a separate process. A fault that makes the process hang counts as found. */
export async function certifyInProcess(
  request: CertifyRequest,
  options: Omit<WatchedChildOptions, "problem">,
): Promise<Certified[]> {
  try {
    return await runWatchedChild<CertifyRequest, Certified>(
      new URL("./certify-child", import.meta.url),
      request,
      {
        ...options,
        problem: (message) => new AuditError(message),
      },
    );
  } catch (error) {
    const number = error instanceof AuditError ? MUTANT.exec(error.message)?.[1] : undefined;
    if (number === undefined || request.hanging.length >= MAX_HANGING) throw error;
    return certifyInProcess({ ...request, hanging: [...request.hanging, Number(number)] }, options);
  }
}
