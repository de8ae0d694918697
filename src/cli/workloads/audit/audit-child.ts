import type { AuditReport } from "./audit.ts";
import type { AuditRequest } from "./audit-process.ts";
import { auditServer } from "./run-audit.ts";
import { findTargets } from "./targets.ts";
import { serveWatchedChild } from "./watched-child.ts";

/** The process that runs the verifiers. */
serveWatchedChild<AuditRequest, AuditReport>(async (request, { progress, report }) => {
  progress("starting");
  for (const target of await findTargets(request)) {
    report(
      await auditServer({
        ...target,
        only: request.only,
        onProgress: (what) => progress(`${target.server.name}, ${what}`),
      }),
    );
  }
});
