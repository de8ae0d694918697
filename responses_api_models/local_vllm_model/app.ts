import { defineModel } from "nemo-gym";
import { z } from "zod";
import {
  closeLocalVllm,
  innerConfig,
  localVllmFields,
  openLocalVllm,
  rejectLocalProblems,
} from "../../libraries/vllm/local-backend.ts";

/** A vLLM engine that this server starts, monitors and stops. */
export default defineModel({
  name: "LocalVLLMModel",
  config: z.looseObject(localVllmFields).superRefine(rejectLocalProblems),
  start: (server) => openLocalVllm(server),
  stop: (server, local) => closeLocalVllm(server, local),
  responses: (call) => call.state.responses(call),
  chat: (call) => call.state.chat(call),
  get: {
    "/get_inner_vllm_config": ({ state }) => innerConfig(state),
    "/token_continuity": ({ state }) => state.backend.continuity.report(),
  },
});
