import { errorMessage } from "../../base/errors.ts";
import { copyWith } from "../../base/python/json/door.ts";
import { fileError, RolloutError } from "../../records/errors.ts";
import { agentNameOf, type Row } from "../../records/files/door.ts";
import type { Gap } from "../../records/trajectory-parts.ts";
import { idInRow } from "../../servers/calls/door.ts";
import { clearModelCalls, type TokenSource } from "../../servers/capture/door.ts";
import { callMetrics, readModelCalls, withoutPayload } from "./call-record.ts";
import { joinObservations, readObservations } from "./join-calls.ts";
import { deliverTokens } from "./token-delivery.ts";
import { standardTrajectory } from "./trajectory.ts";

/** A row with all captured data of its rollout. */
export interface AttachedRow {
  row: Row;
  /** Call this when the row is in the output; `sync` flushes it to disk. */
  settle?: (sync: () => Promise<void>) => Promise<void>;
}

interface CaptureOptions {
  /** Directory in which model servers record calls. */
  modelCallDirectory?: string;
  tokens?: {
    source: TokenSource;
    /** Whether an agent's rollouts are rebuilt from recorded tokens. */
    appliesTo: (agent: string) => boolean;
    maxMaskFraction: number | undefined;
    maskFractionMinSamples: number;
  };
  onNotice: (text: string) => void;
}

/** Recordings in addition to the rows of a run, from before a rollout starts until its row is saved. */
export class RolloutCaptures {
  readonly #options: CaptureOptions;
  readonly #masks: MaskWatch;

  constructor(options: CaptureOptions) {
    this.#options = options;
    this.#masks = new MaskWatch(options.tokens);
  }

  /** Removes recordings of an earlier run with the id of a row that is about to run. */
  async prepare(input: Row): Promise<void> {
    const id = idInRow(input);
    if (id === undefined) return;
    const { modelCallDirectory, tokens } = this.#options;
    try {
      if (modelCallDirectory !== undefined) await clearModelCalls(modelCallDirectory, id);
      await tokens?.source.clear?.(id);
    } catch (error) {
      // A file cannot have such a name, so there is nothing to remove.
      if ((error as NodeJS.ErrnoException).code === "ENAMETOOLONG") return;
      throw fileError(error, modelCallDirectory ?? "the token capture directory", "write");
    }
  }

  /** Reads the recordings of a rollout and adds them to its row. */
  async attach(row: Row, input: Row, outcome: "completed" | "failed"): Promise<AttachedRow> {
    const id = idInRow(input);
    const { modelCallDirectory, tokens } = this.#options;
    const captured =
      modelCallDirectory !== undefined && id !== undefined
        ? await withModelCalls(row, input, id, modelCallDirectory).catch((error: unknown) =>
            withoutModelCalls(row, id, error),
          )
        : withTrajectory(row, input);
    const agent = agentNameOf(input);
    // The records of a failed attempt are kept for diagnosis; they are not used for training.
    if (!tokens || outcome === "failed" || agent === undefined || !tokens.appliesTo(agent))
      return { row: captured };
    const delivery = await deliverTokens(captured, id, tokens.source);
    this.#masks.add(delivery.reason);
    const { used } = delivery;
    return {
      row: delivery.row,
      settle: async (sync) => {
        if (used && id !== undefined) {
          await sync();
          await tokens.source
            .drop(id, used)
            .catch((error: unknown) =>
              this.#options.onNotice(`The token records of ${id} were not deleted: ${errorMessage(error)}`),
            );
        }
        this.#masks.check();
      },
    };
  }

  /** Lines to report at the end of a run. */
  summary(): string[] {
    const masked = this.#masks.summary;
    return masked === undefined ? [] : [masked];
  }
}

async function withModelCalls(row: Row, input: Row, rolloutId: string, directory: string): Promise<Row> {
  const { calls, gaps } = await readModelCalls(directory, rolloutId);
  const { bundle, gaps: malformed } = readObservations(row["ng_agent_observations"]);
  const observations = bundle && joinObservations(bundle, calls);
  const captureGaps: Gap[] = [...gaps];
  if (malformed.length > 0) captureGaps.push({ code: "agent_observation_join_failed" });
  const capture = {
    rollout_id: rolloutId,
    metrics: callMetrics(calls),
    calls: calls.map(withoutPayload),
    ...(captureGaps.length > 0 && { gaps: captureGaps }),
  };
  const joined = observations ? { ...row, ng_agent_observations: observations } : row;
  return copyWith(joined, {
    ng_model_call_capture: capture,
    ng_trajectory: standardTrajectory({
      input,
      rolloutId,
      reported: row["ng_trajectory"],
      observations,
      calls,
      gaps: [...malformed, ...captureGaps],
    }),
  });
}

/** An agent can send anything: invalid data must not lose the row. */
function withoutModelCalls(row: Row, rolloutId: string, error: unknown): Row {
  const gaps = [{ code: "model_call_capture_unreadable", detail: errorMessage(error) }];
  const capture = { rollout_id: rolloutId, metrics: callMetrics([]), calls: [], gaps };
  return copyWith(row, { ng_model_call_capture: capture });
}

/** Converts the trajectory that an agent reported to the standard form; rows without one are unchanged. */
export function withTrajectory(row: Row, input: Row): Row {
  const { ng_trajectory: reported, ng_agent_observations: observed } = row;
  if (reported === undefined && observed === undefined) return row;
  const { bundle, gaps } = readObservations(observed);
  const trajectory = standardTrajectory({
    input,
    rolloutId: idInRow(input),
    reported,
    observations: bundle,
    calls: undefined,
    gaps,
  });
  return copyWith(row, { ng_trajectory: trajectory });
}

/** Counts masked rollouts and ends a run that would yield almost no training data. */
class MaskWatch {
  readonly #limits: CaptureOptions["tokens"];
  readonly #reasons = new Map<string, number>();
  #total = 0;
  #masked = 0;

  constructor(limits: CaptureOptions["tokens"]) {
    this.#limits = limits;
  }

  add(reason: string | undefined): void {
    this.#total++;
    if (reason === undefined) return;
    this.#masked++;
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }

  /** Throws when too many rollouts are masked. */
  check(): void {
    const { maxMaskFraction, maskFractionMinSamples = 1 } = this.#limits ?? {};
    if (maxMaskFraction === undefined || this.#total < maskFractionMinSamples) return;
    if (this.#masked / this.#total <= maxMaskFraction) return;
    throw new RolloutError(
      "ROLLOUT_MASK_FRACTION",
      `${this.#text()}: more than token_id_capture.max_mask_fraction (${maxMaskFraction}) allows. ` +
        "The records of masked rollouts are kept; fix the cause and resume.",
    );
  }

  /** The line to report at the end; undefined when nothing was masked. */
  get summary(): string | undefined {
    return this.#masked === 0 ? undefined : `${this.#text()}.`;
  }

  #text(): string {
    const reasons = [...this.#reasons]
      .sort(([, a], [, b]) => b - a)
      .map(([reason, count]) => `${count} ${reason}`);
    return `${this.#masked} of ${this.#total} rollouts with token capture are masked (${reasons.slice(0, MAX_REASONS).join("; ")})`;
  }
}

const MAX_REASONS = 5;
