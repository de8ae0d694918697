import { defineModel } from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { z } from "zod";
import {
  closeLocalVllm,
  innerConfig,
  localVllmFields,
  openLocalVllm,
  rejectLocalProblems,
} from "../../libraries/vllm/local-backend.ts";
import { comparisonRoles } from "./comparison-roles.ts";

/** A generative reward model: compares two responses that are sent with special roles. */
export default defineModel({
  name: "GenRMModel",
  config: z
    .looseObject({
      ...localVllmFields,
      /** Whether the model's template supports the role `principle`. */
      supports_principle_role: laxBool().default(true),
    })
    .superRefine(rejectLocalProblems),
  start: (server) => openLocalVllm(server, comparisonRoles(server.config.supports_principle_role)),
  stop: (server, local) => closeLocalVllm(server, local),
  responses: (call) => call.state.responses(call),
  chat: (call) => call.state.chat(call),
  get: {
    "/get_inner_vllm_config": ({ state }) => innerConfig(state),
    "/token_continuity": ({ state }) => state.backend.continuity.report(),
  },
});
