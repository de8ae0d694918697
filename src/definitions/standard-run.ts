import type { Cookies } from "../calls/cookies.ts";
import { Reply } from "../calls/server-call.ts";
import { callServer, type ServerContext, type ServerReply } from "../calls/server-client.ts";
import { finishTrajectory, takeTrajectory } from "../capture/trajectory-recorder.ts";
import type { JsonObject } from "../python/json/json-object.ts";
import { ROLLOUT_START_HEADER } from "../wire/rollout-id.ts";
import { materializeCreateParams, materializeResponse } from "../wire/schemas/materialize.ts";
import { parseCreateParams, type ResponseCreateParams } from "../wire/schemas/responses.ts";
import { trust } from "../wire/schemas/trusted.ts";
import type { AgentReply, RolloutScope } from "./define-agent.ts";
import { driftingResponse, driftingResult, driftOf, type TokenDrift } from "./token-drift.ts";

/** The config keys of the standard run. */
export interface StandardRunConfig {
  resources_server: { name: string };
  skip_verification?: boolean;
  skip_verification_reward?: number;
  token_drift?: TokenDrift;
}

export interface StandardRunArgs {
  config: StandardRunConfig;
  server: ServerContext<unknown>;
  row: JsonObject;
  params: ResponseCreateParams;
  cookies: Cookies;
  rollout: RolloutScope;
  signal: AbortSignal;
  respond(params: ResponseCreateParams, cookies: Cookies): Promise<AgentReply>;
}

/** One rollout as most agents run it: seed the session, respond, verify. */
export async function standardRun(args: StandardRunArgs): Promise<JsonObject | Reply> {
  const { config, server, cookies, rollout, signal } = args;
  const { client } = server;
  const resources = config.resources_server.name;
  const request = materializeCreateParams(args.params);
  rollout.onStage("seed");
  const seeded = await callServer(client, {
    server: resources,
    path: `${rollout.prefix}/seed_session`,
    body: {
      ...args.row,
      responses_create_params: args.params.tools === undefined ? withoutTools(request) : request,
    },
    stage: "seed",
    headers: { [ROLLOUT_START_HEADER]: "1" },
    cookies,
    signal,
    idempotent: true,
  });
  const params = withServerTools(args.params, seeded);
  const row = {
    ...args.row,
    responses_create_params: params === args.params ? request : materializeCreateParams(params),
  };
  const { response: answered, cookies: answeredCookies } = await args.respond(params, seeded.cookies);
  const { response: whole, trajectory } = takeTrajectory(answered);
  const drift = driftOf(whole);
  const policy = config.token_drift ?? "fork";
  const response = drift ? driftingResponse(whole, drift, policy) : whole;
  const finished = (result: JsonObject): JsonObject => {
    const told = drift ? driftingResult(result, drift, policy) : result;
    return trajectory ? finishTrajectory(told, trajectory, args.row) : told;
  };
  if (config.skip_verification) {
    const reward = config.skip_verification_reward ?? 0;
    const result = { ...row, response: materializeResponse(response), reward, verification_skipped: true };
    return finished(result);
  }
  rollout.onStage("verify");
  const verified = await callServer(client, {
    server: resources,
    path: `${rollout.prefix}/verify`,
    // The agent runs in this process and is type-checked, so a co-hosted verifier does not parse the response again.
    body: { ...row, response: trust(materializeResponse(response)) },
    stage: "verify",
    cookies: answeredCookies,
    signal,
    idempotent: true,
  });
  if (trajectory || drift) return finished(verified.json() as JsonObject);
  return new Reply(verified.payload());
}

/** A server supplies its own tools for a request without a list of tools. */
function withoutTools({ tools: _tools, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** Adds the tools that the server supplied for a row without tools. */
function withServerTools(params: ResponseCreateParams, seeded: ServerReply): ResponseCreateParams {
  if (params.tools !== undefined) return params;
  const { tools } = (seeded.json() ?? {}) as { tools?: unknown };
  if (!Array.isArray(tools)) return params;
  return parseCreateParams({ ...params, tools }, ["seed_session"]);
}
