import { defineModel } from "nemo-gym";
import { z } from "zod";
import { refuseProblems, vllmFields } from "../../libraries/vllm/config.ts";
import { openVllm } from "../../libraries/vllm/vllm-backend.ts";

/** A vLLM engine, or anything with its chat API: reasoning, token ids for training, replicas. */
export default defineModel({
  name: "VLLMModel",
  config: z.looseObject(vllmFields).superRefine(refuseProblems),
  start: (server) => openVllm(server),
  stop: (_server, backend) => backend?.close(),
  responses: (call) => call.state.responses(call),
  chat: (call) => call.state.chat(call),
  get: { "/token_continuity": ({ state }) => state.continuity.report() },
});
