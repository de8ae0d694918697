import { materializeResponse } from "../openai/materialize.ts";
import { parseCreateParams } from "../openai/responses.ts";
import { classNameOf, type Handler, type RouteCall, ServerApp } from "./app.ts";
import type { ServerContext } from "./context.ts";
import type { ModelDefinition } from "./define-model.ts";
import { HttpError } from "./errors.ts";
import { ROLLOUT_HEADER } from "./rollout-prefix.ts";

/** Makes a running model server out of its definition. */
export function createModelApp(
  definition: ModelDefinition,
  server: ServerContext<unknown>,
  host: { implementation: string; newSessionId?: () => string },
): ServerApp {
  const { options } = definition;
  const context = server as ServerContext<never>;
  let state: unknown;
  const scope = (call: RouteCall) => {
    const rolloutId = call.rolloutId ?? call.headers[ROLLOUT_HEADER];
    const { signal, sessionId } = call;
    const own = { config: context.config, server: context, state, signal, sessionId };
    return typeof rolloutId === "string" ? { ...own, rolloutId } : own;
  };

  const responses: Handler = async (call) => {
    const params = parseCreateParams(call.body, ["body"]);
    if (!options.responses) throw new HttpError(404, "Not Found");
    return materializeResponse(await options.responses({ ...scope(call), params }));
  };

  return new ServerApp({
    name: server.name,
    type: "responses_api_models",
    className: options.name ?? classNameOf(host.implementation),
    get: Object.fromEntries(
      Object.entries(options.get ?? {}).map(([path, handler]) => [
        path,
        (call: RouteCall) =>
          handler({ config: context.config, server: context, signal: call.signal, state: state as never }),
      ]),
    ),
    post: { "/v1/responses": responses },
    log: server.log,
    ...(host.newSessionId && { newSessionId: host.newSessionId }),
    start: async () => {
      state = await options.start?.(context);
    },
    close: () => options.stop?.(context, state as never),
  });
}
