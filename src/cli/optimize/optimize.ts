import path from "node:path";
import {
  conclusionOf,
  type OptimizeEvent,
  type OptimizeOptions,
  type OptimizeResult,
  optimize,
} from "../../run/optimize/door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { skillsPath } from "../eval/skills-key.ts";
import { relativePath } from "../files.ts";
import { interruptedExitCode } from "../interruption.ts";
import { queueOf } from "../queue/queue-options.ts";
import { countText } from "../render/progress.ts";
import { wrapText } from "../render/text-width.ts";
import { optimizeKeys } from "./keys.ts";

/** The flags of the command. */
interface Flags {
  component: readonly string[];
  output?: string | undefined;
  train: string;
  val: string;
  test: string;
  "reflection-model"?: string | undefined;
  "max-rollouts": number;
  "max-tokens"?: number | undefined;
  repeats: number;
  minibatch: number;
  proposer: string;
  selector: string;
  "system-prompt-role"?: string | undefined;
  seed: number;
  resume: boolean;
}

/** Runs `gym optimize`. */
export async function runOptimize(context: CommandContext, flags: Flags): Promise<number> {
  const { io, env, signal, installRoot, roots } = context;
  const config = await context.resolve({ requireServers: true });
  const keys = readKeys(optimizeKeys, config);
  const output = path.resolve(io.cwd, String(flags.output));
  const options: OptimizeOptions = {
    components: flags.component,
    output,
    input: keys.input_jsonl_fpath,
    train: splitOf("train", flags.train),
    val: splitOf("val", flags.val),
    test: splitOf("test", flags.test),
    reflectionModel: flags["reflection-model"],
    maxRollouts: flags["max-rollouts"],
    maxTokens: flags["max-tokens"],
    repeats: flags.repeats,
    minibatch: flags.minibatch,
    proposer: flags.proposer as OptimizeOptions["proposer"],
    selector: flags.selector as OptimizeOptions["selector"],
    systemPromptRole: flags["system-prompt-role"] as OptimizeOptions["systemPromptRole"],
    seed: flags.seed,
    resume: flags.resume,
    agent: keys.agent_name,
    promptConfig: keys.prompt_config,
    concurrency: keys.num_samples_in_parallel,
    params: keys.responses_create_params,
    rolloutTimeoutSeconds: keys.rollout_timeout_seconds,
    checkRows: keys.check_rows,
    skills: skillsPath(keys.skills),
    queue: queueOf(context, config),
    drain: signal,
    signal: io.stopSignal,
    roots,
    installRoot,
    cwd: io.cwd,
    env,
    ownsProcess: true,
  };
  const run = optimize(config, withoutUndefined(options));
  const view = new OptimizeView(context, options);
  try {
    for await (const event of run.events) view.show(event);
  } catch (error) {
    if (!signal.aborted) throw error;
    view.close();
    context.err(`Interrupted. The same command with --resume continues in ${relativePath(context, output)}.`);
    return interruptedExitCode(signal);
  } finally {
    view.close();
  }
  printResult(await run.result, context);
  return 0;
}

function splitOf(name: string, given: string): number | string {
  const count = Number(given);
  if (given.trim() === "" || Number.isNaN(count)) return given;
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new UsageError(
    `argument --${name}: '${given}' is not a number of rows (whole, at least 1) or a file`,
  );
}

function withoutUndefined(options: OptimizeOptions): OptimizeOptions {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as OptimizeOptions;
}

/** Shows an optimization while it runs: one line per candidate and rejection, and a progress line on a terminal. */
class OptimizeView {
  readonly #context: CommandContext;
  readonly #maxRollouts: number | undefined;
  #rollouts = 0;
  #spent = 0;
  #candidates = 0;
  #best: number | null = null;
  #drawn = false;

  constructor(context: CommandContext, { maxRollouts }: OptimizeOptions) {
    this.#context = context;
    this.#maxRollouts = maxRollouts;
  }

  show(event: OptimizeEvent): void {
    if (this.#context.json) {
      if (event.type !== "run") this.#context.out(JSON.stringify(event));
      return;
    }
    switch (event.type) {
      case "status":
      case "notice":
        this.#print(event.text);
        break;
      case "candidate": {
        const { candidate, score, best } = event;
        this.#candidates++;
        if (best) this.#best = score;
        const what =
          candidate.component ?? (candidate.parents.length > 1 ? "merge" : "the texts as they are");
        const from = candidate.parents.length > 0 ? ` from ${candidate.parents.join(" and ")}` : "";
        this.#print(
          `candidate ${candidate.index}${from} (${what}): validation ${score?.toFixed(4) ?? "–"}${best && candidate.index > 0 ? ", best so far" : ""}`,
        );
        break;
      }
      case "rejected":
        this.#print(
          this.#context.terminal.dim(
            `rejected${event.component ? ` (${event.component})` : ""}: ${event.reason}`,
          ),
        );
        break;
      case "batch":
        this.#rollouts += event.result.rollouts;
        this.#spent += event.result.spent;
        this.#draw();
        break;
      case "run":
        if (event.event.type === "notice") this.#print(event.event.text);
    }
  }

  close(): void {
    if (this.#drawn) this.#context.io.stderr.write("\r\x1b[K");
    this.#drawn = false;
  }

  #print(text: string): void {
    this.close();
    for (const line of wrapText(text, this.#context.terminal.width)) this.#context.err(line);
  }

  #draw(): void {
    const { terminal, io } = this.#context;
    if (!terminal.isTty) return;
    const best = this.#best === null ? "" : `, best ${this.#best.toFixed(4)}`;
    const spent = this.#spent === 0 ? "" : `, $${this.#spent.toFixed(4)}`;
    io.stderr.write(
      `\r\x1b[K${this.#rollouts} of ${this.#maxRollouts ?? "?"} rollouts, ${countText(this.#candidates, "candidate")}${best}${spent}`,
    );
    this.#drawn = true;
  }
}

function printResult(result: OptimizeResult, context: CommandContext): void {
  const { out, json } = context;
  if (json) {
    out(JSON.stringify({ type: "finished", ...result }));
    return;
  }
  const { test, best, rollouts, tokens, spent, files, stopped } = result;
  out("");
  for (const line of wrapText(conclusionOf(result), context.terminal.width)) out(line);
  if (test) {
    out(`  before  ${test.before.value.toFixed(4)}`);
    out(`  after   ${test.after.value.toFixed(4)}  (candidate ${best})`);
    out(`  better on ${countText(test.wins, "task")}, worse on ${test.losses}, equal on ${test.ties}`);
  }
  const used = `used ${countText(rollouts, "rollout")}, ${countText(tokens, "token")}, $${spent.toFixed(4)}; ${stopped}`;
  for (const line of wrapText(used, context.terminal.width - 2)) out(`  ${line}`);
  out("");
  out(`Texts:   ${relativePath(context, files.config)}`);
  out(`Report:  ${relativePath(context, files.report)}`);
  out(`Lineage: ${relativePath(context, files.lineage)}`);
}
