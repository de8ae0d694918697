import type { JsonObject, RolloutScope, ServerContext } from "nemo-gym";
import {
  type Cookies,
  callLimits,
  callModel,
  EmptyTurns,
  inputItems,
  type TrajectoryRecorder,
} from "nemo-gym/agents";
import {
  accumulateUsage,
  outputText,
  type Response,
  type ResponseCreateParams,
  type ResponseInputItem,
  type Usage,
} from "nemo-gym/openai";
import type { CommandOutcome, Workspace } from "../../libraries/swe/workspace.ts";
import { type ChatMessage, type Completion, chatToResponses } from "./conversation.ts";
import type { Templates } from "./templates.ts";

const ACTION = /```bash\n(.*?)\n```/gs;
/** The first line of the output that ends a run; the rest is the patch. */
const SUBMIT_MARKERS = ["COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT"];
const MAX_EMPTY_TURNS = 3;

export interface LoopLimits {
  /** Model calls; 0: without limit. */
  step_limit: number;
  /** US dollars, where the model server tells prices; 0: without limit. */
  cost_limit: number;
  /** Seconds of one command. */
  step_timeout: number;
  /** Seconds of the whole run; null: without limit of its own. */
  run_timeout: number | null;
  /** Characters of output the model is shown of one command. */
  max_output_chars: number;
  /** Same command this many times in a row: the model is warned; 0: never. */
  collapse_limit: number;
}

export interface LoopParts {
  server: ServerContext<unknown>;
  modelServer: string;
  templates: Templates;
  limits: LoopLimits;
  workspace: Workspace;
  params: ResponseCreateParams;
  rollout: RolloutScope;
  recorder: TrajectoryRecorder | undefined;
  signal: AbortSignal;
}

export type ExitStatus = "Submitted" | "LimitsExceeded" | "NoAnswer";

/** How a run ended. */
export interface LoopResult {
  exit_status: "Submitted" | "LimitsExceeded" | "NoAnswer";
  /** Null: nothing was submitted. */
  patch: string | null;
  output: Response["output"];
  usage: Usage | null;
  steps: number;
}

/** What the model is told first: how to act, and the task. */
export function firstMessages(templates: Templates, task: string): ResponseInputItem[] {
  const [submit_marker] = SUBMIT_MARKERS;
  const values = { task, submit_marker };
  return [
    { type: "message", role: "system", content: templates.render("system_template", values) },
    { type: "message", role: "user", content: templates.render("instance_template", values) },
  ];
}

/** Asks the model, runs its command and shows it the output, until it submits or a limit is reached. */
export async function runLoop(parts: LoopParts): Promise<LoopResult> {
  return new BashLoop(parts).run();
}

class BashLoop {
  readonly #parts: LoopParts;
  readonly #messages: ChatMessage[] = [];
  readonly #completions: Completion[] = [];
  readonly #deadline: number;
  #usage: Usage | null = null;
  #cookies: Cookies | undefined;
  #last = { command: "", times: 0 };

  constructor(parts: LoopParts) {
    this.#parts = parts;
    const { run_timeout } = parts.limits;
    this.#deadline = run_timeout === null ? Number.POSITIVE_INFINITY : performance.now() + run_timeout * 1000;
  }

  async run(): Promise<LoopResult> {
    const emptyTurns = new EmptyTurns(MAX_EMPTY_TURNS);
    for (;;) {
      if (this.#isOverLimit()) return this.#ended("LimitsExceeded", null);
      const response = await this.#ask();
      const text = outputText(response);
      // An empty message is as good as none: asking on would go on to the last step.
      if (emptyTurns.isOver(text === "" ? [] : response.output)) return this.#ended("NoAnswer", null);
      const actions = Array.from(text.matchAll(ACTION), ([, command = ""]) => command);
      const [command] = actions;
      if (command === undefined || actions.length > 1) {
        this.#tell("format_error_template", { actions });
        continue;
      }
      const outcome = await this.#execute(command);
      const patch = submission(outcome);
      if (patch !== undefined) return this.#ended("Submitted", patch);
    }
  }

  #isOverLimit(): boolean {
    const { step_limit, cost_limit } = this.#parts.limits;
    const cost = Number((this.#usage as JsonObject | null)?.["ng_cost"] ?? 0);
    return (
      (step_limit > 0 && this.#completions.length >= step_limit) ||
      (cost_limit > 0 && cost >= cost_limit) ||
      performance.now() >= this.#deadline
    );
  }

  async #ask(): Promise<Response> {
    const { server, modelServer, params, rollout, recorder, signal } = this.#parts;
    const startedAt = Date.now();
    const question = [
      ...inputItems(params),
      ...(chatToResponses(this.#messages, this.#completions) as ResponseInputItem[]),
    ];
    const { response, cookies } = await callModel(server.client, {
      modelServer,
      params: { ...params, input: question },
      rollout,
      signal,
      timeoutMs: callLimits(server.globalConfig).modelCallMs,
      ...(this.#cookies && { cookies: this.#cookies }),
    });
    this.#cookies = cookies;
    this.#usage = accumulateUsage(this.#usage, response.usage);
    const { output } = response;
    this.#messages.push({ role: "assistant", content: outputText(response) });
    this.#completions.push({ items: output });
    recorder?.modelTurn({ startedAt, question, output, responseId: response.id, modelServer });
    return response;
  }

  async #execute(command: string): Promise<CommandOutcome> {
    const { workspace, limits, recorder, rollout, signal } = this.#parts;
    const startedAt = Date.now();
    rollout.onStage("tool", "bash");
    const left = (this.#deadline - performance.now()) / 1000;
    const timeoutSeconds = Math.max(1, Math.min(limits.step_timeout, left));
    const outcome = await workspace.run(command, { timeoutSeconds, signal });
    const { output, return_code, timedOut } = outcome;
    recorder?.toolCall({
      id: `step_${this.#completions.length}`,
      name: "bash",
      startedAt,
      errorType: timedOut ? "timeout" : null,
      output,
    });
    if (submission(outcome) !== undefined) return outcome;
    this.#last = { command, times: this.#last.command === command ? this.#last.times + 1 : 1 };
    const { collapse_limit } = limits;
    const repeated = collapse_limit > 0 && this.#last.times >= collapse_limit ? this.#last.times : 0;
    if (timedOut)
      this.#tell("timeout_template", { action: { action: command }, output, timeout: timeoutSeconds });
    else this.#tell("action_observation_template", { output: { output, returncode: return_code }, repeated });
    return outcome;
  }

  #tell(template: Parameters<Templates["render"]>[0], values: Record<string, unknown>): void {
    const { templates, limits } = this.#parts;
    const max_output = limits.max_output_chars;
    const content = templates.render(template, {
      max_output,
      half: Math.floor(max_output / 2),
      submit_marker: SUBMIT_MARKERS[0],
      ...values,
    });
    this.#messages.push({ role: "user", content });
  }

  #ended(exit_status: LoopResult["exit_status"], patch: string | null): LoopResult {
    return {
      exit_status,
      patch,
      output: chatToResponses(this.#messages, this.#completions),
      usage: this.#usage,
      steps: this.#completions.length,
    };
  }
}

/** What was submitted, when the output of a command begins with the marker. */
function submission({ output, timedOut }: CommandOutcome): string | undefined {
  if (timedOut) return undefined;
  const [first = "", ...rest] = output.trimStart().split("\n");
  return SUBMIT_MARKERS.includes(first.trim()) ? rest.join("\n") : undefined;
}
