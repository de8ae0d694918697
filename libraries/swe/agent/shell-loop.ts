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
import type { CommandOutcome, Workspace } from "../workspace.ts";
import type { Templates } from "./templates.ts";

/** The first output line of a command that ends the run; the rest is the patch. */
const SUBMIT_MARKERS = ["COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT"];
const MAX_EMPTY_TURNS = 3;
const PROBE_SECONDS = 60;

export interface LoopLimits {
  /** Maximum number of model calls; 0 means no limit. */
  step_limit: number;
  /** Maximum cost in US dollars, if the model server reports prices; 0 means no limit. */
  cost_limit: number;
  /** Time limit of one command, in seconds. */
  step_timeout: number;
  /** Time limit of the whole run, in seconds; null means no limit. */
  run_timeout: number | null;
  /** Maximum number of output characters of one command that the model sees. */
  max_output_chars: number;
  /** Number of consecutive repetitions of a command after which the model is warned; 0 disables the warning. */
  collapse_limit: number;
}

/** One action requested by the model. */
export interface Action {
  command: string;
  /** The tool call that requested it. */
  callId?: string;
}

/** How a model requests actions and gets results: by text, or by tool calls. */
export interface ShellProtocol {
  /** Request parameters besides the conversation. */
  params: Partial<ResponseCreateParams>;
  /** The actions of a response; empty if it is unusable, with the message for the model. */
  read(
    output: Response["output"],
  ): { actions: Action[] } | { wrong: Record<string, unknown>; calls: string[] };
  /** Sends a message to the model: the result of an action, or an error. */
  answer(text: string, callId: string | undefined): ResponseInputItem;
  /** Whether a failed command can submit. */
  submitsOnFailure: boolean;
}

export interface LoopParts {
  protocol: ShellProtocol;
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

/** How a run ended. */
export interface LoopResult {
  exit_status: "Submitted" | "LimitsExceeded" | "NoAnswer" | "WorkspaceLost";
  /** Null if nothing was submitted. */
  patch: string | null;
  output: Response["output"];
  usage: Usage | null;
  steps: number;
}

/** The first messages for the model: how to act, and the task. */
export function firstMessages(templates: Templates, task: string): ResponseInputItem[] {
  const [submit_marker] = SUBMIT_MARKERS;
  const values = { task, submit_marker };
  return [
    { type: "message", role: "system", content: templates.render("system_template", values) },
    { type: "message", role: "user", content: templates.render("instance_template", values) },
  ];
}

/** Calls the model, runs its command and shows it the output, until it submits or a limit is reached. */
export async function runLoop(parts: LoopParts): Promise<LoopResult> {
  return new ShellLoop(parts).run();
}

class ShellLoop {
  readonly #parts: LoopParts;
  /** The conversation after the first messages. */
  readonly #items: ResponseInputItem[] = [];
  #steps = 0;
  readonly #deadline: number;
  #usage: Usage | null = null;
  #cookies: Cookies | undefined;
  #last = { command: "", times: 0 };
  /** The output of the last command, if it failed. */
  #failure: string | undefined;
  #isLost = false;

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
      if (emptyTurns.isOver(isEmpty(response) ? [] : response.output)) return this.#ended("NoAnswer", null);
      const patch = await this.#act(response);
      if (patch !== undefined) return this.#ended("Submitted", patch);
      if (this.#isLost) return this.#ended("WorkspaceLost", null);
    }
  }

  /** Runs the actions of a response; returns the patch if one is submitted. */
  async #act({ output }: Response): Promise<string | undefined> {
    const { protocol } = this.#parts;
    const read = protocol.read(output);
    if ("wrong" in read) {
      // A conversation with an unanswered call is invalid.
      for (const callId of read.calls.length > 0 ? read.calls : [undefined])
        this.#tell("format_error_template", read.wrong, callId);
      return undefined;
    }
    for (const action of read.actions) {
      const outcome = await this.#execute(action);
      const patch = submission(outcome, protocol.submitsOnFailure);
      if (patch !== undefined) return patch;
      await this.#checkWorkspace(outcome);
    }
    return undefined;
  }

  /** A model that has removed its repository, or the rights to it, cannot get it back: every command fails in the same way. */
  async #checkWorkspace({ output, return_code, timedOut }: CommandOutcome): Promise<void> {
    const failure = return_code === 0 || timedOut ? undefined : output;
    const repeated = failure !== undefined && failure === this.#failure;
    this.#failure = failure;
    if (!repeated) return;
    const { workspace, signal } = this.#parts;
    const probe = await workspace.run("true", { timeoutSeconds: PROBE_SECONDS, signal });
    this.#isLost = probe.return_code !== 0;
  }

  #isOverLimit(): boolean {
    const { step_limit, cost_limit } = this.#parts.limits;
    const cost = Number((this.#usage as JsonObject | null)?.["ng_cost"] ?? 0);
    return (
      (step_limit > 0 && this.#steps >= step_limit) ||
      (cost_limit > 0 && cost >= cost_limit) ||
      performance.now() >= this.#deadline
    );
  }

  async #ask(): Promise<Response> {
    const { server, modelServer, params, rollout, recorder, signal } = this.#parts;
    const startedAt = Date.now();
    const question = [...inputItems(params), ...this.#items];
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
    this.#items.push(...(output as ResponseInputItem[]));
    this.#steps++;
    recorder?.modelTurn({ startedAt, question, output, responseId: response.id, modelServer });
    return response;
  }

  async #execute({ command, callId }: Action): Promise<CommandOutcome> {
    const { protocol, workspace, limits, recorder, rollout, signal } = this.#parts;
    const startedAt = Date.now();
    rollout.onStage("tool", "bash");
    const left = (this.#deadline - performance.now()) / 1000;
    const timeoutSeconds = Math.max(1, Math.min(limits.step_timeout, left));
    const outcome = await workspace.run(command, { timeoutSeconds, signal });
    const { output, return_code, timedOut } = outcome;
    recorder?.toolCall({
      id: callId ?? `step_${this.#steps}`,
      name: "bash",
      startedAt,
      errorType: timedOut ? "timeout" : null,
      output,
    });
    if (submission(outcome, protocol.submitsOnFailure) !== undefined) return outcome;
    this.#last = { command, times: this.#last.command === command ? this.#last.times + 1 : 1 };
    const { collapse_limit } = limits;
    const repeated = collapse_limit > 0 && this.#last.times >= collapse_limit ? this.#last.times : 0;
    if (timedOut)
      this.#tell(
        "timeout_template",
        { action: { action: command }, output, timeout: timeoutSeconds },
        callId,
      );
    else {
      const values = { output: { output, returncode: return_code }, repeated };
      this.#tell("action_observation_template", values, callId);
    }
    return outcome;
  }

  #tell(
    template: Parameters<Templates["render"]>[0],
    values: Record<string, unknown>,
    callId: string | undefined,
  ): void {
    const { protocol, templates, limits } = this.#parts;
    const max_output = limits.max_output_chars;
    const content = templates.render(template, {
      max_output,
      half: Math.floor(max_output / 2),
      submit_marker: SUBMIT_MARKERS[0],
      ...values,
    });
    this.#items.push(protocol.answer(content, callId));
  }

  #ended(exit_status: LoopResult["exit_status"], patch: string | null): LoopResult {
    return {
      exit_status,
      patch,
      output: this.#items as Response["output"],
      usage: this.#usage,
      steps: this.#steps,
    };
  }
}

/** An empty response ends the run; otherwise the run would continue to the last step. */
function isEmpty(response: Response): boolean {
  return outputText(response) === "" && !response.output.some(({ type }) => type === "function_call");
}

/** The submission, if the output of a command begins with the marker. */
function submission(
  { output, timedOut, return_code }: CommandOutcome,
  submitsOnFailure: boolean,
): string | undefined {
  if (timedOut || (return_code !== 0 && !submitsOnFailure)) return undefined;
  const [first = "", ...rest] = output.trimStart().split("\n");
  return SUBMIT_MARKERS.includes(first.trim()) ? rest.join("\n") : undefined;
}
