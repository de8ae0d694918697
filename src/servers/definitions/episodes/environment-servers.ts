import { z } from "zod";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { ValidationError, zodDetail } from "../../../wire/schemas/door.ts";
import { Reply } from "../../calls/server-call.ts";
import type { CallOptions, ServerClient, ServerContext } from "../../calls/server-client.ts";
import { capturesTokens, tokenCaptureSettings } from "../../capture/settings.ts";
import { resourcesServerRef } from "../agent-config.ts";
import { episodeOfRow, rowOfEpisode } from "./legacy-row.ts";
import { type Episodes, episodeLimits } from "./run-episode.ts";
import { type EpisodeReply, type EpisodeRequest, episodeRequest } from "./schemas.ts";
import { SingleAgentTurn, type SingleTurnConfig } from "./single-agent-turn.ts";

/** `agent_server` of an environment server. */
export const agentRef = z.looseObject({
  type: z.literal("responses_api_agents").default("responses_api_agents"),
  name: z.string(),
});

/** Config of an environment server with one agent. */
export const singleTurnConfig = z
  .object({
    agent_server: agentRef,
    resources_server: resourcesServerRef,
    resources_tool_transports: z.array(z.enum(["direct_http", "mcp"])).default([]),
    ...episodeLimits,
  })
  .refine(({ max_concurrent_episodes: most, queue_timeout_seconds: wait }) => !most || wait, {
    error: "is required with max_concurrent_episodes",
    path: ["queue_timeout_seconds"],
  });

/** Passes a request to another server and its answer back, both unread. */
export async function relay(
  client: ServerClient,
  { server, path, body, ...options }: CallOptions & { server: string; path: string; body: unknown },
): Promise<Reply> {
  const reply = await client.post(server, path, body, options);
  return new Reply({ status: reply.status, ...reply.payload(), cookies: reply.cookies });
}

interface TurnArgs {
  config: SingleTurnConfig;
  server: ServerContext<unknown>;
  body: JsonObject;
  signal: AbortSignal;
}

/** Runs the typed episode of a request. */
export function runSingleTurn(episodes: Episodes, args: TurnArgs): Promise<EpisodeReply & JsonObject> {
  const { data, error } = episodeRequest.safeParse(args.body);
  if (error) throw new ValidationError(zodDetail(error, ["body"], args.body));
  return runEpisode(episodes, args, data);
}

/** Runs the episode of a flat row, or a typed one, and returns a flat result. */
export async function runSingleTurnRow(episodes: Episodes, args: TurnArgs): Promise<JsonObject> {
  const { config, server, body } = args;
  const agent = config.agent_server.name;
  if (Object.hasOwn(body, "episode_id") && Object.hasOwn(body, "task"))
    return rowOfEpisode(await runSingleTurn(episodes, args), agent);
  const bound = { environment: server.name, agent, resources: config.resources_server.name };
  return rowOfEpisode(await runEpisode(episodes, args, episodeOfRow(body, bound)), agent);
}

async function runEpisode(
  episodes: Episodes,
  { config, server, signal }: TurnArgs,
  request: EpisodeRequest,
): Promise<EpisodeReply & JsonObject> {
  const tokenCapture = capturesTokens(tokenCaptureSettings(server.globalConfig), {});
  const turn = new SingleAgentTurn({ client: server.client, config, request, tokenCapture });
  return { ...(await episodes.run(request, signal, (scope) => turn.run(scope))) };
}
