import { defineModel } from "nemo-gym";
import { providerConfig } from "nemo-gym/models";
import { laxInt } from "nemo-gym/openai";
import { z } from "zod";
import { AiSdkBackend } from "./ai-sdk-backend.ts";

/** Any language model the Vercel AI SDK has a provider for. */
export default defineModel({
  name: "AiSdkModel",
  config: z.looseObject({
    /** The provider's package, such as `@ai-sdk/openai`; it must be installed in this folder. */
    package: z.string(),
    /** The export that makes the provider; the package's only `create…` unless given. */
    factory: z.string().nullish(),
    /** What the factory is called with, beside `apiKey`, `baseURL` and `headers`. */
    factory_options: z.record(z.string(), z.unknown()).default({}),
    api_key: z.string().nullish(),
    base_url: z.string().nullish(),
    default_headers: z.record(z.string(), z.string()).nullish(),
    model: z.string(),
    /** The provider's method that makes the model, such as `chat`; the provider itself unless given. */
    model_method: z.string().nullish(),
    /** `providerOptions` of every call, by provider. */
    provider_options: z.record(z.string(), z.record(z.string(), z.unknown())).nullish(),
    /** Arguments of every call, such as `topK`, in the SDK's names; those of the request win. */
    call_options: z.record(z.string(), z.unknown()).default({}),
    max_concurrent_requests: laxInt().pipe(z.number().int().min(1)).nullish(),
    ...providerConfig(),
  }),
  start: (server) => AiSdkBackend.load(server),
  responses: (call) => call.state.respond(call),
});
