import { defineResourcesServer, type MetricsHooks, perServer, type ServerContext } from "nemo-gym";
import { laxFloat } from "nemo-gym/openai";
import { z } from "zod";
import { gradePatch } from "./grade-patch.ts";
import { SweInstance } from "./instance.ts";
import { resolvedOf, rewardOf } from "./report.ts";
import { Workspaces, workspaceConfig } from "./workspace.ts";

const workspacesOf = perServer((server: ServerContext) => new Workspaces(server));

/** Grades patches of SWE-bench and SWE-Gym instances by running the tests of the instance in a clean copy of its image. */
export function defineGrader(metrics?: MetricsHooks) {
  return defineResourcesServer({
    ...(metrics && { metrics }),
    config: z.object({ ...workspaceConfig, eval_timeout: laxFloat().default(1800) }),
    row: SweInstance.extend({
      /** The patch to grade, for agents that do not put it into the metadata of their response. */
      model_patch: z.string().nullish(),
    }),
    echo: ["instance_id"],
    reverifyMode: "stateless",
    async verify({ config, row, response, server, signal }) {
      const submitted = (response.metadata as Record<string, unknown> | null | undefined)?.["model_patch"];
      const patch = typeof submitted === "string" ? submitted : row.model_patch;
      const { log, ...metadata } = await gradePatch(workspacesOf(server), row, patch, {
        timeoutSeconds: config.eval_timeout,
        signal,
      });
      const reward = rewardOf(metadata, row.instance_id);
      if (reward === 0 && log !== "") server.log.debug(`${row.instance_id}: ${log.slice(-2000)}`);
      return { reward, resolved: resolvedOf(metadata, row.instance_id) === true, metadata };
    },
  });
}
