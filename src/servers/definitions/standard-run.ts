import { GymError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import {
  materializeCreateParams,
  materializeResponse,
  parseCreateParams,
  type ResponseCreateParams,
  trust,
} from "../../wire/schemas/door.ts";
import { type Cookies, NO_COOKIES } from "../calls/cookies.ts";
import { ROLLOUT_START_HEADER } from "../calls/rollout-id.ts";
import { ReceivedReply } from "../calls/run-client.ts";
import { Reply } from "../calls/server-call.ts";
import {
  type CallOptions,
  callServer,
  type ServerContext,
  type ServerReply,
} from "../calls/server-client.ts";
import { finishTrajectory, takeTrajectory } from "../capture/trajectory-recorder.ts";
import { inputItems } from "./call-model.ts";
import type { AgentReply, RolloutScope } from "./define-agent.ts";
import { driftingResponse, driftingResult, driftOf, type TokenDrift } from "./token-drift.ts";

/** The config keys of the standard run. */
export interface StandardRunConfig {
  resources_server?: { name: string };
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

/** The parts of a run that its calls to the resources server need. */
export type RunScope = Pick<StandardRunArgs, "config" | "server" | "rollout" | "signal">;

/** Starts the session of a rollout on its resources server. */
export function seedSession(
  run: RunScope,
  row: JsonObject,
  cookies: Cookies,
  headers?: Readonly<Record<string, string>>,
): Promise<ServerReply> {
  return callResources(run, "seed", "/seed_session", row, { cookies, headers });
}

/** Scores a rollout on its resources server. With `skip_verification` it gets the reward of the config instead. */
export async function verifyRollout(
  run: RunScope,
  result: JsonObject,
  cookies?: Cookies,
): Promise<ServerReply> {
  const { skip_verification, skip_verification_reward: reward = 0 } = run.config;
  if (skip_verification) {
    const body = { ...result, reward, verification_skipped: true };
    return new ReceivedReply({ status: 200, cookies: cookies ?? NO_COOKIES, body });
  }
  return callResources(run, "verify", "/verify", result, { cookies });
}

function callResources(
  { config, server, rollout, signal }: RunScope,
  stage: "seed" | "verify",
  route: string,
  body: JsonObject,
  options: Pick<CallOptions, "cookies" | "headers">,
): Promise<ServerReply> {
  const name = config.resources_server?.name;
  if (name === undefined)
    throw new GymError("AGENT_RESOURCES", "The agent has no resources_server, which /run needs.");
  rollout.onStage(stage);
  const path = `${rollout.prefix}${route}`;
  const call = { ...options, server: name, path, body, stage, signal };
  return callServer(server.client, { ...call, idempotent: true });
}

/** One rollout as most agents run it: seed the session, respond, verify. */
export async function standardRun(args: StandardRunArgs): Promise<JsonObject | Reply> {
  const request = materializeCreateParams(args.params);
  const asked = args.params.tools === undefined ? withoutTools(request) : request;
  const seeded = await seedSession(args, { ...args.row, responses_create_params: asked }, args.cookies, {
    [ROLLOUT_START_HEADER]: "1",
  });
  const params = withSeeded(args.params, seeded);
  const { response: answered, cookies } = await args.respond(params, seeded.cookies);
  const { response: whole, trajectory } = takeTrajectory(answered);
  const drift = driftOf(whole);
  const policy = args.config.token_drift ?? "fork";
  const response = drift ? driftingResponse(whole, drift, policy) : whole;
  const result = {
    ...args.row,
    responses_create_params: params === args.params ? request : materializeCreateParams(params),
    // The agent runs in this process and is type-checked, so a co-hosted verifier does not parse the response again.
    response: trust(materializeResponse(response)),
  };
  const verified = await verifyRollout(args, result, cookies);
  if (!trajectory && !drift) return new Reply(verified.payload());
  const scored = verified.json() as JsonObject;
  const counted = drift ? driftingResult(scored, drift, policy) : scored;
  return trajectory ? finishTrajectory(counted, trajectory, args.row) : counted;
}

/** A server supplies its own tools for a request without a list of tools. */
function withoutTools({ tools: _tools, ...rest }: JsonObject): JsonObject {
  return rest;
}

/**
 * Adds what the server supplied when the session started: `tools` for a row without tools, and `obs`, items that follow the
 * input of the row (what the environment shows at its start).
 */
export function withSeeded(params: ResponseCreateParams, seeded: ServerReply): ResponseCreateParams {
  const { tools, obs } = (seeded.json() ?? {}) as { tools?: unknown; obs?: unknown };
  const added: JsonObject = {};
  if (params.tools === undefined && Array.isArray(tools)) added["tools"] = tools;
  if (Array.isArray(obs) && obs.length > 0) added["input"] = [...inputItems(params), ...obs];
  return Object.keys(added).length === 0
    ? params
    : parseCreateParams({ ...params, ...added }, ["seed_session"]);
}
