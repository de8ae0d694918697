import { findTargets } from "../audit/targets.ts";
import { serveWatchedChild } from "../audit/watched-child.ts";
import { type Certified, certifyServer } from "./certify.ts";
import type { CertifyRequest } from "./certify-process.ts";

/** The process that runs the verifiers, with and without faults. */
serveWatchedChild<CertifyRequest, Certified>(async (request, { progress, report }) => {
  progress("starting");
  for (const target of await findTargets(request)) {
    const onProgress = (what: string) => progress(`${target.server.name}, ${what}`);
    report(await certifyServer({ ...request, target, onProgress }));
  }
});
