import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import {
  currentSpan,
  ending,
  readRolloutBaggage,
  readTraceContext,
  type Span,
  type Tracer,
} from "../../../base/telemetry/light-door.ts";
import { splitRolloutPrefix } from "../../calls/rollout-id.ts";
import type { AppCall, Reply } from "../../calls/server-call.ts";
import type { RequestHandler, ServerApp } from "../app.ts";
import { PROBE_PATHS } from "../probes.ts";
import { rolloutOfRequest } from "../rollout-attribution.ts";
import { modelCallWork } from "./trace-model-call.ts";

const PROBES: ReadonlySet<string> = new Set(PROBE_PATHS);

/** A kind of work that has a span of its own below the span of its request. */
export interface TracedWork {
  /** Starts the span. */
  start(request: Span, tracer: Tracer, call: AppCall): Span;
  /** Records what is known at the end. `reply` is absent if the handler threw. */
  ended(span: Span, tracer: Tracer, reply: Reply | undefined): void;
}

export interface TracedServer {
  app: ServerApp;
  implementation: string;
  tracer: Tracer;
}

/** Adds spans and metrics to the handling of requests. A request continues the trace of its caller. */
export function traceRequests(inner: RequestHandler, server: TracedServer): RequestHandler {
  const { app, tracer } = server;
  const works = worksOf(server);
  const handle: RequestHandler["handle"] = (call) => {
    const { path, rolloutId: named } = splitRolloutPrefix(call.path);
    if (PROBES.has(path)) return inner.handle(call);
    const caller = currentSpan();
    const isInRollout = caller?.rolloutId ?? readRolloutBaggage(call.headers);
    const rolloutId = isInRollout ?? rolloutOfRequest({ path, rolloutId: named, body: call.body });
    const route = app.routeOf(path);
    const parent = caller ? caller.context : readTraceContext(call.headers);
    const about = { "http.request.method": call.method, "http.route": route };
    const request = tracer.start("server", `${call.method} ${route}`, parent, {
      kind: "server",
      attributes: about,
      rolloutId,
    });
    const work = path === "/run" && isInRollout !== undefined ? undefined : works[path];
    return ending(request, async (span) => {
      const reply = await (work ? inWork(work, span, call) : inner.handle(call));
      span.set({ "http.response.status_code": reply.status });
      if (reply.status >= 500) span.fail(String(reply.status));
      const measured = { ...about, "http.response.status_code": reply.status };
      tracer.record("http.server.request.duration", span.milliseconds / 1000, measured);
      return reply;
    });
  };
  const inWork = async (work: TracedWork, request: Span, call: AppCall): Promise<Reply> => {
    const span = work.start(request, tracer, call);
    let reply: Reply | undefined;
    try {
      return await ending(span, async () => {
        reply = await inner.handle(call);
        const failed = failureOf(reply);
        if (failed) span.fail(failed.type, failed.message);
        return reply;
      });
    } finally {
      work.ended(span, tracer, reply);
    }
  };
  return { name: inner.name, handle, unwritable: (call, error) => inner.unwritable(call, error) };
}

function worksOf({ app, implementation }: TracedServer): Readonly<Record<string, TracedWork>> {
  switch (app.type) {
    case "responses_api_models":
      return {
        "/v1/responses": modelCallWork("responses", implementation),
        "/v1/chat/completions": modelCallWork("chat_completions", implementation),
        "/v1/messages": modelCallWork("messages", implementation),
      };
    case "resources_servers":
      return { "/verify": verifyWork() };
    case "responses_api_agents":
      return { "/run": rolloutWork };
    default:
      return {};
  }
}

/** A rollout that a program started at the agent. The collector has its own span. */
const rolloutWork: TracedWork = {
  start(request, tracer) {
    tracer.record("gym.rollout.active", 1);
    return request.child("rollout", "gym.rollout");
  },
  ended(span, tracer) {
    const outcome = span.errorType === undefined ? "completed" : "failed";
    const about = { "nemo.gym.rollout.outcome": outcome, "error.type": span.errorType };
    tracer.record("gym.rollout.active", -1);
    tracer.record("gym.rollout.duration_ms", span.milliseconds, { "nemo.gym.rollout.outcome": outcome });
    tracer.record("gym.rollout.completed_total", 1, about);
  },
};

function verifyWork(): TracedWork {
  let [completed, all] = [0, 0];
  return {
    start: (request) => request.child("verify", "gym.verify"),
    ended(span, tracer) {
      all++;
      if (span.errorType === undefined) completed++;
      tracer.record("gym.verify.duration_ms", span.milliseconds);
      tracer.record("gym.verify.success_rate", completed / all);
    },
  };
}

/** The failure that a reply reports: an error status, or a verdict that does not count. */
function failureOf({ status, body }: Reply): { type: string; message?: string } | undefined {
  const fields: JsonObject = isObject(body) ? body : {};
  if (status >= 400) {
    const { class: type, message } = (isObject(fields["error"]) ? fields["error"] : {}) as JsonObject;
    return {
      type: typeof type === "string" ? type : String(status),
      ...(typeof message === "string" && { message }),
    };
  }
  if (fields["mask_sample"] !== true) return undefined;
  const { failure_kind: kind, failure_reason: reason } = fields;
  return {
    type: typeof kind === "string" ? kind : "masked",
    ...(typeof reason === "string" && { message: reason }),
  };
}
