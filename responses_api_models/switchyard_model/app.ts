import { defineModel } from "nemo-gym";
import { type Provider, providerConfig } from "nemo-gym/models";
import { laxBool, laxInt } from "nemo-gym/openai";
import { z } from "zod";
import { askChat, askResponses, openOpenAi } from "../../libraries/chat-requests/openai-endpoint.ts";
import { recordCondition, recordStats } from "./condition.ts";
import { type HostedProxy, startProxy } from "./hosted-proxy.ts";

const fields = z.looseObject({
  /** The route to ask for. Switchyard maps it to a model. */
  switchyard_model: z.string(),
  /** The proxy that runs already. */
  switchyard_base_url: z.string().nullish(),
  switchyard_api_key: z.string().nullish().default("dummy"),
  /** The TOML file of the proxy that this server starts, if there is no `switchyard_base_url`. */
  deployment: z.string().nullish(),
  /** Port of the started proxy; null: a free one. */
  proxy_port: laxInt().nullish(),
  /** The Python that has the package `nemo-switchyard`, for a started proxy. */
  python_executable: z.string().default("python3"),
  /** Headers that carry the rollout id as Switchyard's session. */
  session_id_headers: z.array(z.string()).default(["x-switchyard-session-id"]),
  forward_session_id: laxBool().default(true),
  /** Directory for `switchyard-condition.json` and `switchyard-stats.json`; null: none are written. */
  condition_dir: z.string().nullish(),
  /** What an attached proxy runs; copied into the condition. */
  proxy_provenance: z.record(z.string(), z.unknown()).default({}),
  extra_body: z.record(z.string(), z.unknown()).default({}),
  default_headers: z.record(z.string(), z.string()).default({}),
  max_concurrent_requests: laxInt().pipe(z.number().int().min(1)).nullish(),
  num_workers: laxInt().nullish(),
  ...providerConfig(),
});
export type SwitchyardConfig = z.output<typeof fields>;

interface State {
  provider: Provider;
  rootUrl: string;
  hosted: HostedProxy | undefined;
}

/** A Switchyard proxy, which chooses a model for each call, with a record of what was measured. */
export default defineModel({
  name: "SwitchyardModel",
  config: fields.superRefine(({ switchyard_base_url: url, deployment, num_workers: workers }, context) => {
    const report = (key: string, message: string) =>
      context.addIssue({ code: "custom", path: [key], message });
    if (url) return;
    if (!deployment)
      report(
        "deployment",
        "is required: the TOML file of a proxy to start. Or set switchyard_base_url, for a proxy that runs already",
      );
    if ((workers ?? 1) > 1)
      report(
        "num_workers",
        "must be 1 with a deployment, because every worker would start a proxy of its own; use switchyard_base_url",
      );
  }),
  async start(server): Promise<State> {
    const { config } = server;
    const { switchyard_base_url: given, deployment } = config;
    if (given && deployment)
      server.log.warn(
        `switchyard_base_url and deployment are both set: ${given} is used, and ${deployment} is ignored.`,
      );
    const hosted = given ? undefined : await startProxy(config, deployment ?? "");
    const baseUrl = given || `${hosted?.rootUrl}/v1`;
    const state = { hosted, rootUrl: baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "") };
    try {
      await recordCondition(config, { ...state, log: server.log });
      const provider = await openOpenAi(
        { ...server, config: openAiConfig(config, baseUrl) },
        { baseUrlKey: given ? "switchyard_base_url" : "deployment" },
      );
      return { ...state, provider };
    } catch (error) {
      await hosted?.stop();
      throw error;
    }
  },
  async stop({ config, log }, state) {
    if (!state) return;
    await recordStats(config, { ...state, log });
    await state.hosted?.stop();
  },
  responses: ({ config, state, ...call }) =>
    askResponses({
      ...call,
      config: openAiConfig(config),
      state: state.provider,
      callHeaders: sessionOf(config, call),
    }),
  chat: ({ config, state, ...call }) =>
    askChat({
      ...call,
      config: openAiConfig(config),
      state: state.provider,
      callHeaders: sessionOf(config, call),
    }),
  modelName: ({ switchyard_model }) => switchyard_model,
});

/** The settings of an endpoint with the APIs of OpenAI, which the proxy is. */
function openAiConfig(config: SwitchyardConfig, baseUrl = "") {
  return {
    ...config,
    openai_base_url: baseUrl,
    openai_api_key: config.switchyard_api_key,
    openai_model: config.switchyard_model,
    openai_default_headers: config.default_headers,
    drop_input_reasoning_items: false,
  };
}

function sessionOf(config: SwitchyardConfig, { rolloutId }: { rolloutId?: string }): Record<string, string> {
  if (!config.forward_session_id || rolloutId === undefined) return {};
  return Object.fromEntries(config.session_id_headers.map((name) => [name, rolloutId]));
}
