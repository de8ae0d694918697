import { z } from "zod";
import { laxBool, laxFloat, laxInt } from "../wire/schemas/lax.ts";
import { MAX_EMPTY_TURNS } from "./empty-turns.ts";
import { tokenDrift } from "./token-drift.ts";

/** A reference to another server of the run. */
const serverRef = <T extends string>(type: T) => z.looseObject({ type: z.literal(type), name: z.string() });

/** `resources_server` of an agent. */
export const resourcesServerRef = serverRef("resources_servers");
/** `model_server` of an agent. */
export const modelServerRef = serverRef("responses_api_models");

/** `max_empty_turns` of an agent that loops. */
export const maxEmptyTurns = laxInt().nullable().default(MAX_EMPTY_TURNS);

/** Config keys every agent understands. */
export const agentConfig = z.looseObject({
  skip_verification: laxBool().default(false),
  skip_verification_reward: laxFloat().default(0),
  token_id_capture: laxBool().default(false),
  token_drift: tokenDrift,
});

/** Config of an agent that loops between a model and the tools of a resources server. */
export const loopAgentConfig = agentConfig.extend({
  resources_server: resourcesServerRef,
  model_server: modelServerRef,
  /** Model calls per rollout; null or 0: as many as it takes. */
  max_steps: laxInt().nullish(),
  /** Turns in a row without a call and without a message after which a rollout ends; null or 0: without limit. */
  max_empty_turns: maxEmptyTurns,
});
