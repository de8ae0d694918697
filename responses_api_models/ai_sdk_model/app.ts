import { defineModel } from "nemo-gym";
import { providerConfig } from "nemo-gym/models";
import { laxInt } from "nemo-gym/openai";
import { z } from "zod";
import { AiSdkBackend } from "./ai-sdk-backend.ts";

/** Any language model with a provider for the Vercel AI SDK. */
export default defineModel({
  name: "AiSdkModel",
  config: z.looseObject({
    /** The provider's package, such as `@ai-sdk/openai`; it must be installed in this folder. */
    package: z.string(),
    /** The export that creates the provider; by default the only `create…` of the package. */
    factory: z.string().nullish(),
    /** Arguments of the factory besides `apiKey`, `baseURL` and `headers`. */
    factory_options: z.record(z.string(), z.unknown()).default({}),
    api_key: z.string().nullish(),
    base_url: z.string().nullish(),
    default_headers: z.record(z.string(), z.string()).nullish(),
    model: z.string(),
    /** The method of the provider that creates the model, such as `chat`; by default the provider itself. */
    model_method: z.string().nullish(),
    /** `providerOptions` of every call, by provider. */
    provider_options: z.record(z.string(), z.record(z.string(), z.unknown())).nullish(),
    /** Arguments of every call, such as `topK`, with the SDK's names; arguments of the request take precedence. */
    call_options: z.record(z.string(), z.unknown()).default({}),
    max_concurrent_requests: laxInt().pipe(z.number().int().min(1)).nullish(),
    ...providerConfig(),
  }),
  start: (server) => AiSdkBackend.load(server),
  responses: (call) => call.state.respond(call),
});
