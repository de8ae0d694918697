import { defineModel } from "nemo-gym";
import { z } from "zod";
import { rejectProblems, vllmFields } from "../../libraries/vllm/config.ts";
import { openVllm } from "../../libraries/vllm/vllm-backend.ts";

/** A vLLM engine or another engine with its chat API: reasoning, token ids for training, replicas. */
export default defineModel({
  name: "VLLMModel",
  config: z.looseObject(vllmFields).superRefine(rejectProblems),
  start: (server) => openVllm(server),
  stop: (_server, backend) => backend?.close(),
  responses: (call) => call.state.responses(call),
  chat: (call) => call.state.chat(call),
  post: {
    // Log probabilities of given texts, for base models.
    "/v1/completions": (call) => call.state.echoed(call),
    // Signals of trainers to an engine around a weight update.
    "/pause": (call) => call.state.signal(call),
    "/resume": (call) => call.state.signal(call),
    "/sleep": (call) => call.state.signal(call),
    "/wake_up": (call) => call.state.signal(call),
    "/reset_prefix_cache": (call) => call.state.signal(call),
  },
  get: { "/token_continuity": ({ state }) => state.continuity.report() },
});
