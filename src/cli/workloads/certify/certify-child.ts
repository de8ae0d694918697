import { findTargets } from "../audit/targets.ts";
import { serveWatchedChild } from "../audit/watched-child.ts";
import { type Certified, certifyServer } from "./certify.ts";
import type { CertifyRequest } from "./certify-process.ts";

/** The process that runs the verifiers, with and without faults. */
serveWatchedChild<CertifyRequest, Certified>(async (request, { progress, report }) => {
  progress("starting");
  const done = new Set<string>();
  for (const target of await findTargets(request)) {
    // A certificate is about the first example dataset of a server; the audit looks at all.
    if (done.has(target.server.name)) continue;
    done.add(target.server.name);
    const onProgress = (what: string) => progress(`${target.server.name}, ${what}`);
    report(await certifyServer({ ...request, target, onProgress }));
  }
});
