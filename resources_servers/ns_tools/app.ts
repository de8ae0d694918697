import {
  callServer,
  defineResourcesServer,
  errorMessage,
  HttpError,
  plainText,
  type ServerContext,
} from "nemo-gym";
import { dumps, isObject, loadsPlain } from "nemo-gym/python";
import { z } from "zod";
import { pythonTool, pythonToolConfig, type Tools, ToolTimeout } from "./python-tool.ts";

const Config = z.object({
  ...pythonToolConfig,
  default_verifier: z.string().default("math_with_judge"),
  /** The servers that score rollouts, by the names that rows use. */
  verifiers: z
    .record(z.string(), z.looseObject({ type: z.literal("resources_servers"), name: z.string() }))
    .default({}),
});
type Config = z.output<typeof Config>;

/** Statistics of the tool calls of a rollout. */
const newCounts = () => ({ calls: 0, timeouts: 0, requestTimeouts: 0, seconds: 0 });

const newSession = ({ state: tools, sessionId }: { state: Tools; sessionId: string }) => ({
  ...newCounts(),
  end: () => tools.end(sessionId),
});

/** Any task with tools: another environment of the run scores the answer. */
export const nsTools = (createTools: (server: ServerContext<Config>) => Tools) =>
  defineResourcesServer({
    config: Config,
    row: z.looseObject({
      verifier_type: z
        .string()
        .nullish()
        .transform((name) => name ?? null),
    }),
    start: createTools,
    session: newSession,
    unseeded: newSession,
    // A rollout that is never verified must not leave its Python process behind.
    closeSession: ({ session }) => session.end(),
    stop: (_server, tools) => tools.close(),
    fallbackTool: {
      async run({ name, input, session, sessionId, state: tools, signal }) {
        if (!tools.has(name)) return plainText(dumps({ error: `Unknown tool: ${name}` }));
        const startedAt = performance.now();
        session.calls++;
        try {
          const result = await tools.call(name, isObject(input) ? input : {}, sessionId, signal);
          if (isTimeout(result)) session.timeouts++;
          return plainText(typeof result === "string" ? result : dumps(result));
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof ToolTimeout)) return plainText(dumps({ error: errorMessage(error) }));
          session.requestTimeouts++;
          return plainText(dumps({ error: error.message, process_status: "timeout" }));
        } finally {
          session.seconds += (performance.now() - startedAt) / 1000;
        }
      },
    },
    async verify({ config, row, body, session, server, signal }) {
      const { calls, timeouts, requestTimeouts, seconds } = session;
      Object.assign(session, newCounts());
      await session.end();
      const name = row.verifier_type || config.default_verifier;
      const verifier = Object.hasOwn(config.verifiers, name) ? config.verifiers[name] : undefined;
      if (!verifier) throw new HttpError(422, `verifiers of the config has no '${name}'.`);
      const call = { server: verifier.name, path: "/verify", body, stage: "verify" as const, signal };
      const delegated: unknown = (await callServer(server.client, call)).json();
      if (!isObject(delegated) || typeof delegated["reward"] !== "number")
        throw new HttpError(502, `'${verifier.name}' answered without a reward.`);
      return {
        ...failureOf(delegated),
        reward: delegated["reward"],
        delegated_response: delegated,
        total_tool_execution_time_seconds: seconds,
        num_tool_calls: calls,
        avg_tool_call_time_seconds: calls === 0 ? 0 : seconds / calls,
        tool_timeout_count: timeouts,
        tool_request_timeout_count: requestTimeouts,
      };
    },
  });

export { ToolTimeout } from "./python-tool.ts";
export default nsTools(pythonTool);

/** What a reply says about a rollout without a verdict. It is not a verdict here either. */
function failureOf(delegated: Record<string, unknown>): Record<string, unknown> {
  if (delegated["_ng_failure_class"] === undefined) return {};
  const kept = ["mask_sample", "failure_kind", "failure_reason"];
  return Object.fromEntries(
    Object.entries(delegated).filter(([key]) => key.startsWith("_ng_failure_") || kept.includes(key)),
  );
}

function isTimeout(result: unknown): boolean {
  const value = typeof result === "string" ? readJson(result) : result;
  return isObject(value) && value["process_status"] === "timeout";
}

function readJson(text: string): unknown {
  try {
    return loadsPlain(text);
  } catch {
    return undefined;
  }
}
