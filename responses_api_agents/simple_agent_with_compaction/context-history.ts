import type { JsonObject } from "nemo-gym";
import { type ResponseInputItem, withoutTokens } from "nemo-gym/openai";
import type { ContextHistorySettings } from "./config.ts";
import { imagesIn, recentView, type View } from "./recency.ts";

export type Decision = "admit" | "admit_after_compaction" | "reject";

/** A question to the model. Questions of one chunk extend each other. */
export interface Question {
  input: ResponseInputItem[];
  fields: Readonly<Record<string, unknown>>;
}

/** Counts the tokens of a prompt. */
export type CountTokens = (question: Question) => Promise<number>;

interface Chunk {
  index: number;
  firstStep: number;
  lastStep: number;
  reason: "start" | "schedule" | "guard";
  /** What was sent at its start, and how much of the conversation that was. */
  view: View;
  length: number;
  outputStart: number;
}

/**
 * What an agent shows its model of a conversation. The view is shortened only where a chunk begins, so that within a
 * chunk each prompt continues the tokens of the previous turn.
 */
export class ContextHistory {
  readonly #settings: ContextHistorySettings;
  readonly #countTokens: CountTokens;
  /** Where the turns begin in the conversation. */
  readonly #starts: number[] = [];
  readonly #chunks: Chunk[] = [];
  readonly #guards: JsonObject[] = [];
  readonly #calls: JsonObject[] = [];
  #decision: Decision | undefined;

  constructor(settings: ContextHistorySettings, countTokens: CountTokens) {
    this.#settings = settings;
    this.#countTokens = countTokens;
  }

  get isRejected(): boolean {
    return this.#decision === "reject";
  }

  /** The question of a step; null if it does not fit. */
  async question(conversation: readonly ResponseInputItem[], step: number): Promise<Question | null> {
    this.#starts.push(conversation.length);
    const last = this.#chunks.at(-1);
    const { schedule } = this.#settings;
    const size = schedule.type === "turn_chunked_recency" ? schedule.actions_per_chunk : 1;
    if (!last) this.#begin("start", conversation, step);
    else if (step - last.firstStep >= size) this.#begin("schedule", conversation, step);
    let question = this.#current(conversation);
    let measured = await this.#measure(question);
    this.#decision = measured.fits ? "admit" : "reject";
    if (
      !measured.fits &&
      this.#chunks.at(-1)?.firstStep !== step &&
      this.#begin("guard", conversation, step)
    ) {
      question = this.#current(conversation);
      measured = await this.#measure(question);
      if (measured.fits) this.#decision = "admit_after_compaction";
    }
    if (measured.tokens !== undefined || !measured.fits)
      this.#guards.push({
        step,
        decision: this.#decision,
        tokens: measured.tokens ?? null,
        images: measured.images,
      });
    if (this.#decision === "reject") return null;
    const chunk = this.#chunks.at(-1) as Chunk;
    chunk.lastStep = step;
    this.#calls.push({
      step,
      chunk_index: chunk.index,
      input_items: question.input.length,
      required_prefix: "required_prefix_token_ids" in question.fields,
    });
    return question;
  }

  /** Begins a chunk, unless its view would be the same. Returns whether it did. */
  #begin(reason: Chunk["reason"], conversation: readonly ResponseInputItem[], step: number): boolean {
    const { policy } = this.#settings;
    const turns = this.#starts.slice(0, -1);
    const view: View =
      policy.type === "recency"
        ? recentView(conversation, turns, policy.config)
        : { items: [...conversation], omitted: { turns: 0, images: 0, reasoning: 0 } };
    const last = this.#chunks.at(-1);
    if (last && JSON.stringify(view.omitted) === JSON.stringify(last.view.omitted)) return false;
    this.#chunks.push({
      index: this.#chunks.length,
      firstStep: step,
      lastStep: step,
      reason,
      view: last ? { ...view, items: view.items.map((item) => withoutTokens(item as never)) } : view,
      length: conversation.length,
      outputStart: conversation.length - (this.#starts[0] ?? 0),
    });
    return true;
  }

  #current(conversation: readonly ResponseInputItem[]): Question {
    const chunk = this.#chunks.at(-1) as Chunk;
    const since = conversation.slice(chunk.length);
    const last = since.findLastIndex((item) => tokensOf(item) !== undefined);
    const prefix = tokensOf(since[last]);
    // Only the last tokens matter. All of them would make requests grow with the square of the turns.
    const bare = since.map((item, index) => (index === last ? item : withoutTokens(item as never)));
    return {
      input: [...chunk.view.items, ...bare],
      fields: prefix === undefined ? {} : { required_prefix_token_ids: prefix },
    };
  }

  async #measure(question: Question): Promise<{ fits: boolean; tokens?: number; images: number }> {
    const { max_total_tokens, reserved_generation_tokens, ...vision } = this.#settings.guards;
    const images = question.input.reduce((sum, item) => sum + imagesIn(item), 0);
    const imageTokens = images * (vision.projected_vision_tokens_per_image ?? 0);
    const tooMany = vision.max_active_images !== null && images > vision.max_active_images;
    const tooLarge = vision.max_vision_tokens !== null && imageTokens > vision.max_vision_tokens;
    if (tooMany || tooLarge) return { fits: false, images };
    if (max_total_tokens === null) return { fits: true, images };
    const tokens = await this.#countTokens(question);
    return { fits: tokens + reserved_generation_tokens <= max_total_tokens, tokens, images };
  }

  /** The fields of the response that describe the segments of the rollout. */
  report(rolloutId: string | undefined): JsonObject {
    const [, task, rollout, attempt] = /^(\d+)-(\d+)(?:-a(\d+))?$/.exec(rolloutId ?? "") ?? [];
    const records = this.#chunks.map(({ index, firstStep, lastStep, reason, view, outputStart }) => ({
      chunk_index: index,
      first_step: firstStep,
      last_step: lastStep,
      reason,
      output_start: outputStart,
      omitted: view.omitted,
    }));
    return {
      rollout_trace_contract: {
        rollout_id: rolloutId ?? null,
        group_id: task ?? null,
        task_id: task ?? null,
        rollout_index: rollout === undefined ? null : Number(rollout),
        attempt_index: attempt === undefined ? 0 : Number(attempt),
        generation_contract: "extends_within_chunk",
      },
      model_call_metadata: this.#calls,
      chunk_records: records,
      boundary_events: records.slice(1).map(({ chunk_index, first_step, reason, output_start }) => ({
        chunk_index,
        step: first_step,
        reason,
        output_start,
      })),
      guard_records: this.#guards,
      final_policy_decision: this.#decision ?? null,
    };
  }
}

/** The tokens up to the end of a generated item. */
function tokensOf(item: ResponseInputItem | undefined): number[] | undefined {
  const { prompt_token_ids: prompt, generation_token_ids: generated } = (item ?? {}) as {
    prompt_token_ids?: number[];
    generation_token_ids?: number[];
  };
  return prompt && generated ? [...prompt, ...generated] : undefined;
}
