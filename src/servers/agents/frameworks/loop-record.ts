import { accumulateUsage, type Usage } from "../../../wire/convert/door.ts";
import type {
  FunctionCall,
  Response,
  ResponseInputItem,
  ResponseOutputItem,
} from "../../../wire/schemas/door.ts";
import type { TrajectoryRecorder } from "../../capture/trajectory-recorder.ts";

/**
 * The output items of a framework's loop, recorded from its model calls and tool calls. Every framework has these calls,
 * whatever the form of its own messages.
 */
export class LoopRecord {
  readonly items: ResponseOutputItem[] = [];
  modelCalls = 0;
  usage: Usage | null = null;
  /** The error of the last model call; undefined if it succeeded. */
  failure: unknown;
  /** Why the last answer of the model was truncated. */
  incompleteReason: string | undefined;
  readonly #openCalls = new Map<string, FunctionCall>();
  readonly #modelServer: string;
  readonly #trajectory: TrajectoryRecorder | undefined;
  readonly #onItems: ((items: readonly ResponseOutputItem[]) => void) | undefined;

  constructor(
    modelServer: string,
    options: {
      trajectory?: TrajectoryRecorder;
      /** Receives items as they are recorded. */
      onItems?: (items: readonly ResponseOutputItem[]) => void;
    } = {},
  ) {
    this.#modelServer = modelServer;
    this.#trajectory = options.trajectory;
    this.#onItems = options.onItems;
  }

  /** Records a successful model call. */
  modelCall(turn: { startedAt: number; question: readonly ResponseInputItem[]; response: Response }): void {
    const { startedAt, question, response } = turn;
    const { output, id: responseId } = response;
    this.modelCalls++;
    this.failure = undefined;
    this.usage = accumulateUsage(this.usage, response.usage);
    this.incompleteReason = response.incomplete_details?.reason ?? undefined;
    this.#add(...output);
    for (const item of output) if (item.type === "function_call") this.#openCalls.set(item.call_id, item);
    const modelServer = this.#modelServer;
    this.#trajectory?.modelTurn({ startedAt, question, output, responseId, modelServer });
  }

  /** Records the outputs in a conversation that is about to be sent. The framework may have written them itself. */
  outputsIn(conversation: readonly ResponseInputItem[]): void {
    for (const item of conversation)
      if (item.type === "function_call_output") this.toolOutput(item.call_id, item.output);
  }

  /** Records the output of a call of the model. Later outputs of the same call are ignored. */
  toolOutput(callId: string, output: unknown): void {
    if (!this.#openCalls.delete(callId)) return;
    const text = typeof output === "string" ? output : JSON.stringify(output);
    this.#add({ type: "function_call_output", call_id: callId, output: text });
  }

  #add(...items: readonly ResponseOutputItem[]): void {
    this.items.push(...items);
    this.#onItems?.(items);
  }

  /** The id of the oldest call of a tool without an output, for frameworks that do not pass the id to tools. */
  openCallOf(name: string): string | undefined {
    return [...this.#openCalls.values()].find((call) => call.name === name)?.call_id;
  }
}
