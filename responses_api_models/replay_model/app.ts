import { defineModel, HttpError } from "nemo-gym";
import { newId, type Response } from "nemo-gym/openai";
import { z } from "zod";
import { splitConversation } from "./conversation.ts";
import { Recordings } from "./recordings.ts";

/** Replays recorded rollouts turn by turn; a request without a recording is an error. */
export default defineModel({
  name: "ReplayModel",
  config: z.looseObject({
    /** A rollouts file written by `gym eval run`. */
    rollouts_jsonl_fpath: z.string(),
    model: z.string().default("replay_model"),
  }),
  start: ({ name, config, findFile, log }) =>
    Recordings.read(findFile(config.rollouts_jsonl_fpath), {
      key: `${name}.rollouts_jsonl_fpath`,
      onSurplus: (text) => log.warn(text),
    }),
  async responses({ params, config, state: recordings, rolloutId }) {
    const input = typeof params.input === "string" ? [] : params.input;
    const { question, turns: turnsInInput } = splitConversation(input);
    const recording = recordings.find(rolloutId, typeof params.input === "string" ? params.input : question);
    if (!recording)
      throw miss(`${recordings.file} has no rollout for this request (rollout ${rolloutId ?? "unknown"}).`);
    const turnsSoFar = turnsInInput - recording.turnsAsked;
    const turn = recording.turns[turnsSoFar];
    if (!turn) {
      const recorded = recording.turns.length;
      throw miss(
        `The recorded rollout ${rolloutId ?? ""} has ${recorded} turns; turn ${turnsSoFar + 1} was asked for.`,
      );
    }
    const last = turnsSoFar === recording.turns.length - 1;
    const { usage, incomplete_details, status } = recording.response as Partial<Response>;
    return {
      id: newId("resp"),
      created_at: Number(recording.response["created_at"] ?? 0),
      model: config.model,
      object: "response",
      output: turn,
      parallel_tool_calls: params.parallel_tool_calls ?? true,
      tool_choice: params.tool_choice ?? "auto",
      tools: params.tools ?? [],
      // The recording has only the total usage of all turns; the last turn reports it.
      ...(last
        ? {
            usage: usage ?? null,
            incomplete_details: incomplete_details ?? null,
            status: status ?? "completed",
          }
        : {}),
    };
  },
});

function miss(message: string): HttpError {
  return new HttpError(404, message, {
    failure: { class: "replay_miss", stage: "model", retryable: false, message },
  });
}
