import type { AuditRequest } from "./audit-process.ts";
import type { AuditReport } from "./report.ts";
import { auditServer } from "./run-audit.ts";
import { findTargets } from "./targets.ts";
import { serveWatchedChild } from "./watched-child.ts";

/** The process in which verifiers are tried. */
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
