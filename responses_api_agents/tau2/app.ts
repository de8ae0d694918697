import { execFile } from "node:child_process";
import path from "node:path";
import { defineAgent, errorMessage, HttpError, type JsonObject, type ServerContext } from "nemo-gym";
import { agentConfig, modelServerRef, Semaphore } from "nemo-gym/agents";
import {
  laxFloat,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  type Response,
  type ResponseInputItem,
} from "nemo-gym/openai";
import { z } from "zod";
import { computeMetrics, keyMetrics } from "./metrics.ts";
import { conversation, simulation, tokens } from "./simulation.ts";

/** Variables that the Python program needs; all others may hold secrets. */
const PASSED = ["PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "SSL_CERT_FILE"];
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const Config = agentConfig.extend({
  model_server: modelServerRef,
  /** The model that plays the user. */
  user_model_server: modelServerRef,
  /** Settings of the user's model calls. They take precedence over those of the row. */
  user_llm_args: z.record(z.string(), z.unknown()).default({}),
  /** Maximum number of messages and tool calls of a simulation. */
  max_steps: laxInt().default(200),
  /** The Python that has tau2-bench. */
  python: z.string().default("python3"),
  /** Folders in which it looks for modules first. */
  python_path: z.array(z.string()).default([]),
  /** The folder `data` of tau2-bench, if the package does not find it. */
  data_dir: z.string().nullish(),
  concurrency: laxInt().default(8),
  /** Seconds for one simulation. */
  timeout: laxFloat().default(3600),
});

/** Settings of the benchmark that have only one value here. */
const Fixed = {
  save_dir: z.null().optional(),
  user_voice_settings: z.null().optional(),
  user_persona_config: z.null().optional(),
  hallucination_feedback: z.null().optional(),
  verbose_logs: z.literal(false).optional(),
  audio_debug: z.literal(false).optional(),
  audio_taps: z.literal(false).optional(),
  auto_review: z.literal(false).optional(),
  review_mode: z.literal("full").optional(),
};

const Row = z.looseObject({
  config: z.looseObject({
    domain: z.string(),
    llm_args_user: z.record(z.string(), z.unknown()).nullish(),
    llm_args_agent: z.record(z.string(), z.unknown()).nullish(),
  }),
  task: z.looseObject({ id: z.union([z.string(), z.number()]) }),
  seed: laxInt().nullish(),
  evaluation_type: z.string().default("all"),
  ...Fixed,
});

const Result = z.union([
  z.object({ error: z.string() }),
  z.object({
    simulation,
    system_prompt: z.string(),
    tools: z.array(
      z.looseObject({ name: z.string(), parameters: z.record(z.string(), z.unknown()).optional() }),
    ),
  }),
]);

/** Simulations that the benchmark could not finish; their reward of 0 says nothing about the model. */
const BROKEN = new Set(["infrastructure_error", "unexpected_error"]);

/** Tasks of tau2-bench: customers, played by a second model, and a service agent with tools. The benchmark runs and scores them in Python. */
export default defineAgent({
  name: "Tau2Agent",
  config: Config,
  start: ({ config }) => ({ slots: new Semaphore(config.concurrency) }),
  metrics: { compute: computeMetrics, key: keyMetrics },

  async responses() {
    throw new HttpError(501, "tau2 runs whole simulations: post a row to /run.");
  },

  async run({ row: given, params, config, server, rollout, signal, state }) {
    const parsed = Row.safeParse(given);
    if (!parsed.success)
      throw new HttpError(422, `The row is no task of tau2: ${z.prettifyError(parsed.error)}`);
    const { config: settings, task, seed, evaluation_type } = parsed.data;
    const { domain, llm_args_agent, llm_args_user } = settings;
    const modelAt = (name: string, prefix: string) => ({
      api_base: `${server.client.baseUrl(name)}${prefix}/v1`,
      api_key: "EMPTY",
    });
    const { temperature, top_p, max_output_tokens: max_tokens } = params;
    const sampling = Object.entries({ temperature, top_p, max_tokens }).filter(([, value]) => value != null);
    const request = {
      config: {
        ...settings,
        max_steps: config.max_steps,
        llm_agent: "openai/policy",
        llm_args_agent: {
          ...llm_args_agent,
          ...Object.fromEntries(sampling),
          ...modelAt(config.model_server.name, rollout.modelPrefix),
        },
        llm_user: "openai/user",
        llm_args_user: {
          ...llm_args_user,
          ...config.user_llm_args,
          ...modelAt(config.user_model_server.name, rollout.prefix),
        },
      },
      ...{ task, seed: seed ?? null, evaluation_type },
    };
    rollout.onStage("model", "tau2");
    const result = await state.slots.run(() => simulate(request, server, signal), signal);
    const { termination_reason: reason, reward_info, messages, duration } = result.simulation;
    if (reward_info == null || BROKEN.has(reason)) throw failed(`the simulation ended with ${reason}`);

    const { shown, output } = conversation(messages);
    const { usage, fields } = tokens(messages);
    const tools = result.tools.map((tool) => ({ type: "function", strict: false, ...tool }));
    const own = typeof params.input === "string" ? [] : params.input;
    const prompt: ResponseInputItem[] =
      own.length > 0 ? own : [{ type: "message", role: "system", content: result.system_prompt }];
    const asked = { ...params, input: [...prompt, ...shown], tools } as typeof params;
    const response = {
      id: `tau2-${domain}-${task.id}`,
      object: "response",
      created_at: Math.floor(Date.now() / 1000),
      model: String(server.globalConfig["policy_model_name"] ?? config.model_server.name),
      ...{ output, usage, tools, parallel_tool_calls: true, tool_choice: "auto" },
      status: reason === "user_stop" || reason === "agent_stop" ? "completed" : "incomplete",
    } as unknown as Response;
    return {
      ...given,
      responses_create_params: materializeCreateParams(asked),
      response: materializeResponse(response),
      reward: reward_info.reward,
      result: result.simulation,
      duration: duration ?? null,
      num_steps: messages.length,
      agent_steps: messages.filter(({ role }) => role === "assistant").length,
      ...fields,
    } as JsonObject;
  },
});

/** Runs the benchmark in a process of its own, because it can only be stopped with its process. */
async function simulate(
  request: object,
  { config, directory }: ServerContext<z.output<typeof Config>>,
  signal: AbortSignal,
) {
  const inherited = PASSED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  const search = [...config.python_path, process.env["PYTHONPATH"] ?? ""].filter(Boolean);
  const env = {
    ...Object.fromEntries(inherited),
    PYTHONPATH: search.join(path.delimiter),
    PYTHONDONTWRITEBYTECODE: "1",
    // Otherwise the library downloads prices at every start.
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
    ...(config.data_dir != null && { TAU2_DATA_DIR: path.resolve(config.data_dir) }),
  };
  const stdout = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      config.python,
      [path.join(directory, "run_task.py")],
      { env, signal, timeout: config.timeout * 1000, killSignal: "SIGKILL", maxBuffer: MAX_OUTPUT_BYTES },
      (error, out, stderr) => {
        if (error === null) resolve(out);
        else if (signal.aborted) reject(signal.reason);
        else if (error.killed) reject(failed(`the simulation took more than ${config.timeout} seconds`));
        else reject(failed(`${errorMessage(error).slice(0, 200)}: ${stderr.trim().slice(-2_000)}`));
      },
    );
    child.stdin?.on("error", () => {}).end(JSON.stringify(request));
  });
  const result = Result.parse(JSON.parse(stdout));
  if ("error" in result) throw failed(result.error);
  return result;
}

function failed(reason: string): HttpError {
  const message = `tau2: ${reason}`;
  return new HttpError(502, message, {
    failure: { class: "agent_error", stage: "run", retryable: true, message },
  });
}
