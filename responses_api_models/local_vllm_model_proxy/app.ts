import { defineModel } from "nemo-gym";
import { modelServerRef } from "nemo-gym/agents";
import { laxFloat } from "nemo-gym/openai";
import { z } from "zod";
import { rejectProblems, vllmFields } from "../../libraries/vllm/config.ts";
import { openVllm } from "../../libraries/vllm/vllm-backend.ts";
import { innerEngine } from "./inner-engine.ts";

/** The engine of another server with different settings, so that one model on the GPUs serves several roles. */
export default defineModel({
  name: "LocalVLLMModelProxyServer",
  config: z
    .looseObject({
      ...vllmFields,
      base_url: z.union([z.string(), z.array(z.string())]).default([]),
      api_key: z.string().nullish().default("dummy"),
      model: z.string().default("dummy"),
      /** The server that runs the engine. */
      model_server: modelServerRef,
      /** Seconds until that server must respond; null means no limit. */
      startup_timeout_seconds: laxFloat().nullable().default(7_200),
    })
    .superRefine(rejectProblems),
  start: async (server) => {
    const { model_server, startup_timeout_seconds: seconds } = server.config;
    const engine = await innerEngine(server, model_server.name, seconds === null ? null : seconds * 1000);
    return openVllm(server, { engine });
  },
  stop: (_server, backend) => backend?.close(),
  responses: (call) => call.state.responses(call),
  chat: (call) => call.state.chat(call),
  get: { "/token_continuity": ({ state }) => state.continuity.report() },
});
