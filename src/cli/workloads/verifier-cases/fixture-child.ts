import { resolveLeniently } from "../../../config/door.ts";
import { searchRoots } from "../../../config/paths.ts";
import { startServer } from "../audit/audited-server.ts";
import { serverUnderAudit } from "../audit/targets.ts";
import { serveWatchedChild } from "../audit/watched-child.ts";
import { VerifierFixtureError } from "../errors.ts";
import { type CaseResult, exerciseCases } from "./exercise.ts";
import type { FixtureRequest } from "./fixture-process.ts";

/** The process that runs the cases of a verifier. */
serveWatchedChild<FixtureRequest, CaseResult[]>(async (request, { progress, report }) => {
  progress("starting");
  const config = resolveLeniently(request.configFile, request);
  const instance = config.servers.find(({ name }) => name === request.instance);
  if (instance === undefined)
    throw new VerifierFixtureError(`${request.configFile} has no server '${request.instance}'.`);
  const { server } = await serverUnderAudit(instance, config, searchRoots(request), request);
  if (server.definition.type !== "resources_servers")
    throw new VerifierFixtureError(`${server.implementation} is not a resources server.`);
  const { kind } = server.definition;
  report(
    await exerciseCases({
      ...request,
      server: {
        kind,
        // Judges are not part of the verifier. The fake judge returns the verdict that the case needs.
        start: (wanted) => startServer(server, wanted === "zero_reward" ? "reject" : "accept", () => {}),
      },
      onCase: (name) => progress(`case '${name}'`),
    }),
  );
});
