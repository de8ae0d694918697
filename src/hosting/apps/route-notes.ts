import type { z } from "zod";
import type {
  GymnasiumServerDefinition,
  ResourcesServerDefinition,
} from "../../definitions/define-resources.ts";
import type { RouteNote } from "./openapi.ts";

type Notes = Record<string, RouteNote>;

const AGGREGATE: RouteNote = {
  summary: "Metrics of verified rollouts.",
  takes: "AggregateMetricsRequest",
  gives: "AggregateMetrics",
};
const CHECK_ROWS: RouteNote = { summary: "What is wrong with each of `rows`, before anything is run." };
const PARAMS = ["responses_create_params"] as const;
const ROLLOUT = ["responses_create_params", "response"] as const;

/** Request and response bodies of the routes of a resources server. */
export function resourcesNotes({ seed, row, tools }: ResourcesServerDefinition["options"]): Notes {
  const seeded: z.ZodType | undefined = seed ?? row;
  const notes: Notes = {
    "/seed_session": { summary: "Begins a rollout: the row.", ...(seeded && { body: seeded }) },
    "/verify": {
      summary: "Scores a rollout: the row and its response.",
      ...(row && { body: row }),
      also: ROLLOUT,
      gives: "VerifyResponse",
    },
    "/aggregate_metrics": AGGREGATE,
    "/check_rows": CHECK_ROWS,
    "/reverify_mode": { summary: "Whether stored rollouts may be scored again." },
  };
  for (const [name, tool] of Object.entries(tools ?? {})) {
    const { description, input } = tool as { description?: string; input?: z.ZodType };
    notes[`/${name}`] = { ...(description && { summary: description }), ...(input && { body: input }) };
  }
  return notes;
}

export function gymnasiumNotes({ row }: GymnasiumServerDefinition["options"]): Notes {
  return {
    "/reset": {
      summary: "Starts an episode: the row.",
      ...(row && { body: row }),
      also: PARAMS,
      gives: "ResetResponse",
    },
    "/step": {
      summary: "Answers one model turn: the row and the latest response.",
      ...(row && { body: row }),
      also: ROLLOUT,
      gives: "StepResponse",
    },
    "/aggregate_metrics": AGGREGATE,
    "/check_rows": CHECK_ROWS,
  };
}

export function agentNotes(): Notes {
  return {
    "/v1/responses": {
      summary: "The agent's loop, for one conversation.",
      takes: "ResponseCreateParams",
      gives: "Response",
    },
    "/run": { summary: "One rollout: the row.", also: PARAMS, gives: "VerifyResponse" },
    "/aggregate_metrics": AGGREGATE,
    "/check_rows": CHECK_ROWS,
  };
}

export function modelNotes(): Notes {
  return {
    "/v1/responses": { summary: "Responses API.", takes: "ResponseCreateParams", gives: "Response" },
    "/v1/chat/completions": {
      summary: "Chat Completions API.",
      takes: "ChatCompletionRequest",
      gives: "ChatCompletion",
    },
    "/v1/messages": { summary: "Anthropic Messages API.", takes: "MessagesRequest", gives: "Message" },
    "/v1/messages/count_tokens": {
      summary: "An estimate of the tokens of a request.",
      takes: "MessagesRequest",
    },
    "/v1/models": { summary: "The model behind this server." },
    "/rollout_usage": {
      summary: "Behind /ng-rollout/<id>: the tokens and calls of a rollout since the last request.",
    },
  };
}
