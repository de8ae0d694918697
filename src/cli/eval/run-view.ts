import type { ProgressSnapshot } from "../../records/light-door.ts";
import type {
  Collection,
  EvaluationEvent,
  EvaluationRun,
  ResumeSummary,
  RunEvent,
  ScoredRun,
} from "../../run/door.ts";
import type { ServersEvent as ServerEvent } from "../../servers/hosting/door.ts";
import { waitingText } from "../../servers/hosting/light-door.ts";
import type { CommandContext } from "../command.ts";
import { relativePath } from "../files.ts";
import { DRAIN_GRACE_MS, SignalReceived } from "../interruption.ts";
import { countText } from "../render/progress.ts";
import { lagText, ownFrames } from "../render/server-text.ts";
import { createTerminal } from "../render/terminal.ts";
import { evaluationJsonEvent, type JsonEvent, serverJsonEvent } from "./json-events.ts";
import { isLineDue, progressLines, progressText } from "./progress-lines.ts";

const REDRAW_MS = 250;
/** Interval between lines without a terminal. */
const LINE_MS = 10_000;
/** Interval of progress events. */
const PROGRESS_MS = 2_000;
/** Maximum number of times that the same server line is printed. */
const MAX_REPEATS = 3;
const MAX_REMEMBERED_LINES = 1_000;

/** Shows an evaluation while it runs: a live display on a terminal, lines elsewhere, or JSON events. */
export interface RunView {
  status(text: string): void;
  notice(text: string): void;
  serverEvent(event: ServerEvent): void;
  evaluationEvent(event: EvaluationEvent): void;
  /** Removes the display from the terminal and stops it; may be called again. */
  close(): void;
}

export function createRunView(context: CommandContext, label = "Collecting rollouts"): RunView {
  return context.json ? jsonView(context) : new TextView(context, label);
}

/** Shows the events of a run until it ends. */
export async function followRun<Result extends ScoredRun>(
  run: EvaluationRun<Result>,
  view: RunView,
  onEvent: (event: RunEvent) => void = () => {},
): Promise<Result & { result: Result }> {
  for await (const event of run.events) {
    onEvent(event);
    if (event.type === "server") view.serverEvent(event.event);
    else if (event.type === "status") view.status(event.text);
    else if (event.type !== "health") view.evaluationEvent(event);
  }
  const result = await run.result;
  return { ...result, result };
}

/** The state of a resumed run; zero counts are omitted. */
function resumeText(summary: ResumeSummary): string {
  const { materializedRows, done, failedAttempts, terminal, exhausted, remaining } = summary;
  const parts = [
    [failedAttempts, "failed attempts"],
    [terminal, "failed permanently"],
    [exhausted, "out of attempts (--retry-failed runs them again)"],
  ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  return `Resuming: ${[`${materializedRows} rows`, `${done} done`, ...parts, `${remaining} to run`].join(", ")}.`;
}

class TextView implements RunView {
  readonly #context: CommandContext;
  readonly #label: string;
  readonly #tty: boolean;
  readonly #width: number;
  readonly #printed = new Map<string, number>();
  #collection: Collection | undefined;
  #timer: NodeJS.Timeout | undefined;
  #drawn = 0;
  #lastLine: ProgressSnapshot | undefined;

  constructor(context: CommandContext, label: string) {
    this.#context = context;
    this.#label = label;
    const terminal = createTerminal(context.io.stderr, context.env);
    this.#tty = terminal.isTty;
    this.#width = terminal.width;
  }

  status(text: string): void {
    this.#print(text);
  }

  notice(text: string): void {
    this.#print(this.#context.terminal.yellow(text));
  }

  serverEvent(event: ServerEvent): void {
    if (event.type === "log") {
      const worth = event.level === "warn" || event.level === "error" || this.#context.verbose;
      if (worth) this.#serverLine(`(${event.server}) ${event.line}`);
    } else if (event.type === "installing") this.#print(`installing the packages of ${event.server}`);
    else if (event.type === "waiting") this.notice(waitingText(event));
    else if (event.type === "lag") this.notice(lagText(event.lag));
  }

  evaluationEvent(event: EvaluationEvent): void {
    switch (event.type) {
      case "notice":
        this.notice(event.text);
        break;
      case "prepared": {
        const { summary, resumed, paths } = event;
        if (resumed) {
          this.#print(resumeText(summary));
          if (summary.tornOutput)
            this.#print("A torn last line of the output was repaired; its rollout runs again.");
        }
        if (summary.materializedRows === 0) this.notice("The input has no rows: there is nothing to run.");
        this.#print(
          `Collecting ${countText(summary.remaining, "rollout")} into ${relativePath(this.#context, paths.output)}`,
        );
        break;
      }
      case "started":
        this.#collection = event.collection;
        this.#timer = setInterval(() => this.#draw(), this.#tty ? REDRAW_MS : LINE_MS);
        this.#timer.unref();
        this.#context.signal.addEventListener("abort", () => this.#announceDrain(), { once: true });
        break;
      case "outcome":
        if (event.outcome.status === "failed" && this.#context.verbose) {
          const { class: name, stage, message } = event.outcome.failure;
          this.#print(`${event.taskIndex}-${event.rolloutIndex} failed in ${stage} (${name}): ${message}`);
        }
        break;
      case "collected":
        this.#stopDrawing();
        if (!this.#tty) this.#print(progressText(event.result.progress));
        break;
      case "summarized":
        break;
    }
  }

  close(): void {
    this.#stopDrawing();
  }

  /** Limits how often the same line is printed; all repeats are in the server's log. */
  #serverLine(line: string): void {
    const [first = ""] = line.split("\n");
    const times = (this.#printed.get(first) ?? 0) + 1;
    if (this.#printed.size < MAX_REMEMBERED_LINES) this.#printed.set(first, times);
    const { verbose, installRoot } = this.#context;
    // A stack trace is printed once.
    const most = line.includes("\n") ? 1 : MAX_REPEATS;
    if (verbose) this.#print(line);
    else if (times <= most) this.#print(ownFrames(line, installRoot));
    if (times === most && !verbose)
      this.#print(this.#context.terminal.dim("  (repeats go to the server's log only)"));
  }

  #announceDrain(): void {
    const running = this.#collection?.running.length ?? 0;
    const { reason } = this.#context.signal;
    const hurry =
      reason instanceof SignalReceived && !reason.isFromTerminal
        ? `They have ${DRAIN_GRACE_MS / 1000} s`
        : "Press Ctrl-C again to stop at once";
    this.notice(
      `Stopping: waiting for ${countText(running, "rollout")} in progress. ${hurry}; --resume continues later.`,
    );
  }

  #stopDrawing(): void {
    clearInterval(this.#timer);
    if (this.#timer && this.#tty) this.#draw();
    this.#timer = undefined;
    this.#drawn = 0;
  }

  #draw(): void {
    const snapshot = this.#collection?.snapshot();
    if (!snapshot) return;
    if (!this.#tty) {
      if (!isLineDue(snapshot, this.#lastLine)) return;
      this.#lastLine = snapshot;
      this.#context.io.stderr.write(`${progressText(snapshot)}\n`);
      return;
    }
    const lines = progressLines(snapshot, this.#width, this.#context.terminal, this.#label);
    this.#context.io.stderr.write(`${this.#erase()}${lines.join("\n")}\n`);
    this.#drawn = lines.length;
  }

  /** Moves the cursor back over the display so that other output can replace it. */
  #erase(): string {
    const erase = this.#drawn > 0 ? `\u001b[${this.#drawn}A\r\u001b[J` : "";
    this.#drawn = 0;
    return erase;
  }

  #print(text: string): void {
    this.#context.io.stderr.write(`${this.#erase()}${text}\n`);
    if (this.#timer && this.#tty) this.#draw();
  }
}

function jsonView(context: CommandContext): RunView {
  let outcomes: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    if (outcomes.length > 0) context.out(outcomes.join("\n"));
    outcomes = [];
  };
  const send = (event: JsonEvent) => {
    flush();
    context.out(JSON.stringify(event));
  };
  /** Thousands arrive per second, so those of one turn of the event loop are written together. */
  const sendOutcome = (event: JsonEvent) => {
    if (outcomes.length === 0) setImmediate(flush);
    outcomes.push(JSON.stringify(event));
  };
  return {
    status: (text) => send({ event: "status", text }),
    notice: (text) => send({ event: "notice", text }),
    serverEvent: (event) => send(serverJsonEvent(event)),
    evaluationEvent(event) {
      if (event.type === "outcome") sendOutcome(evaluationJsonEvent(event));
      else if (event.type !== "started") send(evaluationJsonEvent(event));
      else {
        const { collection } = event;
        const sendProgress = () => send({ event: "progress", ...collection.snapshot() });
        sendProgress();
        timer = setInterval(sendProgress, PROGRESS_MS);
        timer.unref();
      }
    },
    close() {
      clearInterval(timer);
      flush();
    },
  };
}
