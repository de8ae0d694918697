import type { TrajectoryRecorder } from "../../capture/trajectory-recorder.ts";
import { accumulateUsage, type Usage } from "../../wire/convert/usage.ts";
import type {
  FunctionCall,
  Response,
  ResponseInputItem,
  ResponseOutputItem,
} from "../../wire/schemas/responses.ts";

/**
 * What a loop that is not ours did, seen from its model calls and tool calls: every framework asks a model and runs tools, whatever
 * its own messages look like.
 */
export class LoopRecord {
  readonly items: ResponseOutputItem[] = [];
  modelCalls = 0;
  usage: Usage | null = null;
  /** The last model call failed, and none has succeeded since. */
  failure: unknown;
  /** Why the last answer of the model was cut off. */
  incompleteReason: string | undefined;
  readonly #openCalls = new Map<string, FunctionCall>();
  readonly #modelServer: string;
  readonly #trajectory: TrajectoryRecorder | undefined;
  readonly #onItems: ((items: readonly ResponseOutputItem[]) => void) | undefined;

  constructor(
    modelServer: string,
    options: {
      trajectory?: TrajectoryRecorder | undefined;
      /** Told of items as they are recorded. */
      onItems?: (items: readonly ResponseOutputItem[]) => void;
    } = {},
  ) {
    this.#modelServer = modelServer;
    this.#trajectory = options.trajectory;
    this.#onItems = options.onItems;
  }

  /** A model call that succeeded. */
  modelCall(turn: { startedAt: number; question: readonly ResponseInputItem[]; response: Response }): void {
    const { response } = turn;
    const { output } = response;
    this.modelCalls++;
    this.failure = undefined;
    this.usage = accumulateUsage(this.usage, response.usage);
    this.incompleteReason = response.incomplete_details?.reason ?? undefined;
    this.#add(...output);
    for (const item of output) if (item.type === "function_call") this.#openCalls.set(item.call_id, item);
    this.#trajectory?.modelTurn({
      startedAt: turn.startedAt,
      question: turn.question,
      output,
      responseId: response.id,
      modelServer: this.#modelServer,
    });
  }

  /** The conversation that is about to be sent: it has the outputs of calls that the framework answered by itself. */
  outputsIn(conversation: readonly ResponseInputItem[]): void {
    for (const item of conversation)
      if (item.type === "function_call_output") this.toolOutput(item.call_id, item.output);
  }

  /** The output of a call the model made; later reports of the same call are ignored. */
  toolOutput(callId: string, output: unknown): void {
    if (!this.#openCalls.delete(callId)) return;
    const text = typeof output === "string" ? output : JSON.stringify(output);
    this.#add({ type: "function_call_output", call_id: callId, output: text });
  }

  #add(...items: readonly ResponseOutputItem[]): void {
    this.items.push(...items);
    this.#onItems?.(items);
  }

  /** The id of a call for a framework that does not tell its tools: the oldest one without an output. */
  openCallOf(name: string): string | undefined {
    for (const call of this.#openCalls.values()) if (call.name === name) return call.call_id;
    return undefined;
  }
}
