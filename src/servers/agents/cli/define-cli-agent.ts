import path from "node:path";
import { z } from "zod";
import { HttpError } from "../../../base/door.ts";
import { failure } from "../../../base/failures.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import { Semaphore } from "../../../base/transport/light-door.ts";
import { textParts } from "../../../wire/door.ts";
import {
  materializeCreateParams,
  materializeResponse,
  type Response,
  type ResponseCreateParams,
  type ResponseInputItem,
  type ResponseOutputItem,
} from "../../../wire/schemas/door.ts";
import { laxFloat, laxInt } from "../../../wire/schemas/lax.ts";
import type { Cookies } from "../../calls/cookies.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import { agentConfig, modelServerRef, resourcesServerRef } from "../../definitions/agent-config.ts";
import { inputItems } from "../../definitions/call-model.ts";
import { type AgentDefinition, defineAgent, type RolloutScope } from "../../definitions/define-agent.ts";
import type { MaybePromise } from "../../definitions/definitions.ts";
import { seedSession, verifyRollout, withSeeded } from "../../definitions/standard-run.ts";
import { DEFAULT_MODEL, isAnswer, modelPrefixOf, responseOf, takeRolloutUsage } from "../response-of.ts";
import { type HarnessOutcome, type HarnessPlace, openLocalHost, runHarness } from "./harness-run.ts";
import { type HarnessPackage, installHarness, nodeOf, packageFolder } from "./program.ts";
import {
  type HarnessSandboxes,
  harnessSandbox,
  insideUrl,
  MODEL_ROUTES,
  openSandboxes,
  TOOL_ROUTES,
} from "./sandboxed-host.ts";
import type { Transcript } from "./transcript.ts";

/** Config keys of every command-line agent. */
export const cliAgentConfig = agentConfig.extend({
  resources_server: resourcesServerRef,
  /** Configs of the original may name the endpoint itself; the model under test is behind it here. */
  model_server: modelServerRef.default({ type: "responses_api_models", name: "policy_model" }),
  /** Maximum number of concurrent processes. */
  concurrency: laxInt().default(8),
  /** Time limit of one run of the program, in seconds. */
  timeout: laxFloat().default(900),
  /** The model name in the requests. Model servers replace it with their own. */
  model: z.string().nullish(),
  system_prompt: z.string().nullish(),
  /** Further arguments, before the prompt. */
  extra_args: z.array(z.string()).default([]),
  /** Runs the program in a sandbox that can reach only the model and resources servers. Default: on the host. */
  sandbox: harnessSandbox.default(false),
});

/** The MCP server that offers the tools of the resources server to a harness. */
export interface McpConnection {
  name: string;
  url: string;
  headers: Record<string, string>;
}

/** One run of a harness, for its adapter. */
export interface HarnessRequest<Config> extends HarnessPlace {
  config: Config;
  model: string;
  /** Address of the model server with the rollout's prefix, without `/v1`. */
  baseUrl: string;
  prompt: string;
  system: string | undefined;
  /** The request, for programs that take more than the last message. */
  params: ResponseCreateParams;
  /** The folder of the agent. */
  directory: string;
  /** Undefined when the resources server does not offer MCP. */
  mcp: McpConnection | undefined;
  /** Skills of the run (`+skills.path`). The adapter copies them to the folder that the harness reads. */
  skillsDirectory: string | undefined;
  timeoutMs: number;
}

/** The command and the files of a harness for one rollout. */
export interface HarnessLaunch {
  args: string[];
  /** Standard input of the program, for a prompt that is too long for an argument (`promptArguments`). */
  stdin?: string;
  env?: Record<string, string>;
  /** Files to write first: path relative to `home`, and text. */
  files?: Record<string, string>;
  /** Directories to copy first: target relative to `home`, and source. */
  copies?: Record<string, string>;
  /** Arguments of earlier runs of the same program, such as a login. */
  before?: string[][];
  /** A script that starts the program and prints its events, if the program does not. Gets its path and the arguments. */
  runner?: string;
}

/** Longest argument. Linux takes 128 KiB. */
const MAX_ARGUMENT_BYTES = 120_000;

/**
 * The end of the command line with this prompt. A long prompt goes to standard input, with the arguments `piped` instead
 * of the prompt and `before`.
 */
export function promptArguments(
  prompt: string,
  { before = [], piped = [] }: { before?: readonly string[]; piped?: readonly string[] } = {},
): Pick<HarnessLaunch, "args" | "stdin"> {
  return isLong(prompt) ? { args: [...piped], stdin: prompt } : { args: [...before, prompt] };
}

/** A system prompt that is too long for an argument goes in front of the prompt. */
function fitting({ prompt, system }: HarnessPrompt): HarnessPrompt {
  return system !== undefined && isLong(system)
    ? { prompt: `${system}\n\n${prompt}`, system: undefined }
    : { prompt, system };
}

function isLong(text: string): boolean {
  return Buffer.byteLength(text) > MAX_ARGUMENT_BYTES;
}

export interface CliAgentOptions<ConfigSchema extends typeof cliAgentConfig> {
  name: string;
  config: ConfigSchema;
  /** The package to run, or a program that the user has installed. A version in the config takes precedence. */
  program(config: z.output<ConfigSchema>): HarnessPackage | string;
  launch(request: HarnessRequest<z.output<ConfigSchema>>): MaybePromise<HarnessLaunch>;
  /** Reads one event: a line of JSON on standard output. */
  read(event: JsonObject, transcript: Transcript): void;
  /** Called once after the last event. */
  finish?(transcript: Transcript, outcome: HarnessOutcome): void;
}

interface State {
  program: string;
  node: string;
  slots: Semaphore;
  /** Opened by the first rollout, because the addresses of the other servers are known then. */
  sandboxes?: Promise<HarnessSandboxes>;
}

/**
 * Defines an agent server that runs a command-line harness. Each rollout gets its own home and work folder, the address
 * of the model server with the rollout's prefix, and the MCP address of the resources server. The program's events
 * become output items.
 */
export function defineCliAgent<ConfigSchema extends typeof cliAgentConfig>(
  options: CliAgentOptions<ConfigSchema>,
): AgentDefinition {
  type Config = z.output<ConfigSchema>;

  async function respond(
    args: {
      params: ResponseCreateParams;
      config: Config;
      server: ServerContext<Config>;
      rollout: RolloutScope;
      state: State;
      signal: AbortSignal;
      cookies: Cookies;
    },
    offered: Pick<HarnessRequest<Config>, "mcp" | "skillsDirectory">,
  ): Promise<Response> {
    const { params, config, server, rollout, state, signal } = args;
    const { prompt, system } = fitting(promptOf(params, config.system_prompt));
    const model = config.model ?? params.model ?? DEFAULT_MODEL;
    const timeoutMs = config.timeout * 1000;
    const countedUsage = () => takeRolloutUsage(server.client, config.model_server.name, rollout, signal);
    // Drops the counts of an earlier attempt.
    await countedUsage();
    rollout.onStage("model", options.name);
    const origin = server.client.baseUrl(config.model_server.name);
    const isSandboxed = config.sandbox !== false;
    const address = (url: string) => (isSandboxed ? insideUrl(url) : url);
    const outcome = await runHarness({
      program: state.program,
      node: state.node,
      host: isSandboxed ? (await sandboxesOf(state, config, server)).host() : await openLocalHost(),
      timeoutMs,
      signal,
      launch: (place) =>
        options.launch({
          ...place,
          config,
          model,
          baseUrl: `${address(origin)}${modelPrefixOf(rollout)}`,
          prompt,
          system,
          params,
          directory: server.directory,
          mcp: offered.mcp && { ...offered.mcp, url: address(offered.mcp.url) },
          skillsDirectory: offered.skillsDirectory,
          timeoutMs,
        }),
      read: (event, transcript) => options.read(event, transcript),
      onItems: (items) => rollout.onOutput?.(items, args.cookies),
    });
    options.finish?.(outcome.transcript, outcome);
    const items = outcome.transcript.finish();
    requireActivity(options.name, items, outcome);
    const incompleteReason = outcome.timedOut ? "timeout" : outcome.transcript.incompleteReason;
    const usage = (await countedUsage()) ?? outcome.transcript.usage;
    return responseOf(items, { params, model, usage, incompleteReason });
  }
  type Args = Parameters<typeof respond>[0];

  return defineAgent({
    name: options.name,
    config: options.config,
    async prefetch({ config, signal, log }) {
      const harness = options.program(config as Config);
      if (typeof harness === "string") return;
      const program = await installHarness(harness, signal);
      log(`${harness.package}@${harness.version}: ${program}`);
    },
    async start({ config, log }): Promise<State> {
      const harness = options.program(config as Config);
      const slots = new Semaphore(config.concurrency);
      if (typeof harness === "string") return { program: harness, node: process.execPath, slots };
      const node = nodeOf(harness);
      const program = await installHarness(harness);
      log.info(`uses ${harness.package}@${harness.version}`);
      return { program, node, slots };
    },
    async stop(_server, state) {
      await (await state.sandboxes)?.close();
    },
    async responses(args) {
      const { state, signal, cookies } = args;
      const offered = { mcp: undefined, skillsDirectory: undefined };
      const response = await state.slots.run(() => respond(args as Args, offered), signal);
      return { response: response as Response & JsonObject, cookies };
    },
    run(args) {
      const { row, params, cookies, config, server, state, signal } = args;
      return state.slots.run(async () => {
        const body = { ...row, responses_create_params: materializeCreateParams(params) };
        const seeded = await seedSession(args, body, cookies);
        const shown = withSeeded(params, seeded);
        const response = await respond({ ...args, params: shown, cookies: seeded.cookies } as Args, {
          mcp: mcpOf(seeded.json(), server.client.baseUrl(config.resources_server.name)),
          skillsDirectory: skillsOf(row, server),
        });
        const result = {
          ...body,
          ...(shown !== params && { responses_create_params: materializeCreateParams(shown) }),
          response: materializeResponse(response),
        };
        const verified = await verifyRollout(args, result, seeded.cookies);
        return {
          ...(verified.json() as JsonObject),
          turns_used: response.output.filter(isAnswer).length,
          finished_naturally: response.status === "completed" && isAnswer(response.output.at(-1)),
        };
      }, signal);
    },
  });
}

function sandboxesOf(
  state: State,
  config: z.output<typeof cliAgentConfig>,
  { client }: ServerContext<unknown>,
): Promise<HarnessSandboxes> {
  const { model_server, resources_server, sandbox } = config;
  const reachable = [
    { origin: client.baseUrl(model_server.name), routes: MODEL_ROUTES },
    { origin: client.baseUrl(resources_server.name), routes: TOOL_ROUTES },
  ];
  const readable = [packageFolder(state.program), path.dirname(path.dirname(state.node))];
  state.sandboxes ??= openSandboxes(sandbox, reachable, readable);
  return state.sandboxes;
}

/** A harness that failed without any item is broken, or could not reach the model. That is not a wrong answer. */
function requireActivity(name: string, items: readonly ResponseOutputItem[], outcome: HarnessOutcome): void {
  if (items.length > 0 || outcome.timedOut) return;
  const { errors } = outcome.transcript;
  if (outcome.code === 0 && errors.length === 0) return;
  const reason = errors.at(-1) ?? outcome.stderr.trim().slice(-2_000);
  const message = `${name}: the program did nothing and exited with ${outcome.code}${reason === "" ? "" : `: ${reason}`}`;
  throw new HttpError(502, message, {
    failure: failure("agent_error", message, { stage: "model", retryable: true }),
  });
}

/** The MCP connection in the reply of `/seed_session`. */
function mcpOf(seedReply: unknown, baseUrl: string): McpConnection | undefined {
  const mcp = isObject(seedReply) ? seedReply["mcp"] : undefined;
  if (!isObject(mcp)) return undefined;
  const headers = isObject(mcp["headers"]) ? Object.entries(mcp["headers"]) : [];
  return {
    name: String(mcp["server_name"]),
    url: `${baseUrl}${String(mcp["url_path"] ?? "/mcp")}`,
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
  };
}

function skillsOf(row: JsonObject, server: ServerContext<unknown>): string | undefined {
  const reference = row["skills_ref"];
  const directory = isObject(reference) ? reference["path"] : undefined;
  return typeof directory === "string" ? path.resolve(server.findFile(directory)) : undefined;
}

/** The texts that a command-line harness receives. */
export interface HarnessPrompt {
  prompt: string;
  system: string | undefined;
}

/**
 * The last user message is the prompt. A leading system message is appended to the configured system prompt. Harnesses
 * start new conversations, so earlier turns are omitted.
 */
export function promptOf(params: ResponseCreateParams, configured?: string | null): HarnessPrompt {
  const items = inputItems(params);
  const [first] = items;
  const leading = first !== undefined && isMessage(first) && first.role === "system" ? textOf(first) : "";
  const system = [configured ?? "", leading].filter((text) => text !== "").join("\n\n");
  const last = items.findLast((item) => isMessage(item) && item.role === "user");
  return { prompt: last === undefined ? "" : textOf(last), system: system === "" ? undefined : system };
}

type Message = Extract<ResponseInputItem, { role?: string; content: unknown }>;

function isMessage(item: ResponseInputItem): item is Message {
  return (item.type === undefined || item.type === "message") && "content" in item;
}

function textOf(item: ResponseInputItem): string {
  const texts = textParts("content" in item ? item.content : undefined);
  return texts.filter((text) => text !== "").join("\n");
}
