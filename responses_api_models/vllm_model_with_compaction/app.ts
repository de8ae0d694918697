import { defineModel, HttpError } from "nemo-gym";
import { parseChatParams } from "nemo-gym/openai";
import { z } from "zod";
import { rejectProblems, vllmFields } from "../../libraries/vllm/config.ts";
import { openVllm } from "../../libraries/vllm/vllm-backend.ts";

const PREFIX = "required_prefix_token_ids";

const tokenIds = z.array(z.int().min(0));

function prefixIn(fields: Readonly<Record<string, unknown>>): void {
  const given = fields[PREFIX];
  if (given !== undefined && given !== null && !tokenIds.safeParse(given).success)
    throw new HttpError(422, `${PREFIX} must be a list of token ids.`);
}

/** `vllm_model` for agents that compact their context: prompts that continue given tokens, and a route that counts tokens. */
export default defineModel({
  name: "VLLMModelWithCompaction",
  config: z.looseObject(vllmFields).superRefine(rejectProblems),
  requestFields: [PREFIX],
  start: (server) => openVllm(server),
  stop: (_server, backend) => backend?.close(),
  responses: (call) => {
    prefixIn(call.fields);
    return call.state.responses(call);
  },
  chat: (call) => {
    prefixIn(call.fields);
    return call.state.chat(call);
  },
  post: {
    "/tokenize": async ({ state, body, signal }) => {
      const { [PREFIX]: prefix, ...rest } = z.looseObject({}).parse(body ?? {});
      const fields = prefix == null ? {} : { [PREFIX]: prefix };
      prefixIn(fields);
      const params = parseChatParams({ model: state.model, ...rest }, ["body"]);
      const scope = { signal, sessionId: "", headers: {}, fields, onLoss: () => {} };
      const tokens = await state.tokenize({ ...scope, params } as never);
      return { count: tokens.length, tokens };
    },
    // Signals of trainers to an engine around a weight update.
    "/pause": (call) => call.state.signal(call),
    "/resume": (call) => call.state.signal(call),
    "/sleep": (call) => call.state.signal(call),
    "/wake_up": (call) => call.state.signal(call),
    "/reset_prefix_cache": (call) => call.state.signal(call),
  },
  get: { "/token_continuity": ({ state }) => state.continuity.report() },
});
