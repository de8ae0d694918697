import { defineGymnasiumServer, HttpError, type JsonObject, type StepReply } from "nemo-gym";
import { functionCalls, laxFloat, laxInt } from "nemo-gym/openai";
import { dumps } from "nemo-gym/python";
import { z } from "zod";
import { type Action, NOOP, readAction, refusal } from "./actions.ts";
import { Simulator } from "./network.ts";
import { describe } from "./observation.ts";
import { PRB_PRESSURE_THRESHOLD, rewardTerms, WEIGHTS } from "./reward.ts";

/** Seconds of simulated time in which the same call may not be repeated. A step takes one second. */
const REPEAT_WINDOW = 2;

const weight = laxFloat().optional();
const Config = z.object({
  backend: z.literal("replay", "only the backend 'replay' is included").default("replay"),
  max_steps_default: laxInt().pipe(z.number().min(1)).default(60),
  agent_max_steps: laxInt().pipe(z.number().min(1)).default(16),
  /** Added to the reward of an answer that is not exactly one valid tool call. */
  protocol_violation_penalty: laxFloat().pipe(z.number().negative()).default(-1),
  reward_weights: z
    .strictObject({
      ...{ w_sla: weight, w_tput: weight, w_fair: weight, w_buffer: weight, w_sla_level: weight },
      ...{
        w_prb_level: weight,
        w_access_level: weight,
        w_fair_level: weight,
        w_action: weight,
        w_reject: weight,
      },
    })
    .nullish(),
});

const share = z.number().nonnegative().optional();
const Row = z.looseObject({
  seed: laxInt().pipe(z.number().min(0)),
  difficulty: z.number().min(0).max(1).default(0.5),
  regime_mix: z
    .strictObject({
      ...{ prb_exhaustion: share, bursty: share, interference: share },
      ...{ prach_storm: share, qos_competition: share },
    })
    .default({}),
  scenario_id: z.string().nullable().default(null),
  tier: z.literal("replay").default("replay"),
  max_steps: laxInt().pipe(z.number().min(1)).nullish(),
});

/** Problems with an answer, and what the model reads about them. */
const VIOLATIONS = {
  no_tool_call:
    "No tool call detected. Issue exactly one tool call per turn from the configured action space (use `noop` to stand pat). Applied penalized noop.",
  multiple_tool_calls: "Exactly one tool call is required; applied penalized noop.",
  invalid_tool_call: "Invalid tool call rejected; applied penalized noop.",
};

interface Episode {
  simulator: Simulator;
  step: number;
  maxSteps: number;
  budget: number;
  total: number;
  /** The accepted calls and the time of each. */
  calls: Map<string, number>;
  isOver: boolean;
  lastReply?: { id: string; reply: StepReply };
}

/** A radio network with too much traffic: one control action per simulated second. */
export default defineGymnasiumServer({
  config: Config,
  row: Row.partial(),
  seed: Row,
  reset({ config, row, sessionId }) {
    const parsed = Row.safeParse(row);
    const issue = parsed.error?.issues[0];
    if (issue) throw new HttpError(422, `${issue.path.join(".")}: ${issue.message}`);
    const { seed, difficulty, regime_mix, scenario_id, tier, max_steps } = parsed.data as z.infer<typeof Row>;
    const simulator = new Simulator(seed, difficulty, regime_mix);
    const maxSteps = max_steps ?? config.max_steps_default;
    const session: Episode = {
      simulator,
      step: 0,
      maxSteps,
      budget: Math.min(maxSteps, config.agent_max_steps),
      total: 0,
      calls: new Map(),
      isOver: false,
    };
    return {
      session,
      observation: describe(simulator.network, 0, undefined),
      info: {
        episode_id: sessionId,
        ...{ seed, scenario_id, tier, backend: config.backend },
        dynamics_mode: "synthetic",
        ...{ action_affects_observation: true, causal_action_effects: true },
        ...{ training_usable: true, diagnostic_only: false },
        reward_profile: "openair_v1",
        reward_weights: { ...WEIGHTS, ...config.reward_weights },
        prb_pressure_threshold: PRB_PRESSURE_THRESHOLD,
        observation_render: "openair_natural_language_v1",
        ...{ supports_explicit_close: true, supports_step_idempotency: true },
      },
    };
  },
  keepFinished: true,
  unseeded: (): Episode | undefined => undefined,
  step({ config, body, response, session: episode }) {
    if (!episode) return NO_EPISODE;
    const { _ng_step_request_id: id } = body;
    if (typeof id === "string" && episode.lastReply?.id === id) return episode.lastReply.reply;
    if (episode.isOver) return NO_EPISODE;
    const reply = play(episode, functionCalls(response), config);
    if (typeof id === "string") episode.lastReply = { id, reply };
    return reply;
  },
  /** Adds `/close`, which agents call because `/reset` offers it. */
  closeSession() {},
});

const NO_EPISODE: StepReply = { truncated: true, info: { error: "no_active_episode" } };

type Calls = ReturnType<typeof functionCalls>;

function play(episode: Episode, calls: Calls, config: z.infer<typeof Config>): StepReply {
  const answer = readAnswer(calls);
  const action = "violation" in answer ? NOOP : answer;
  const violation = "violation" in answer ? answer.violation : undefined;
  const refused = violation ? undefined : refusalOf(episode, action);
  const before = episode.simulator.network;
  if (refused === undefined) {
    episode.simulator.apply(action);
    if (action.name !== "noop") episode.calls.set(action.text, episode.step);
  }
  episode.simulator.advance();
  episode.step++;
  const weights = { ...WEIGHTS, ...config.reward_weights } as typeof WEIGHTS;
  const terms = rewardTerms(before, episode.simulator.network, weights, refused !== undefined);
  const penalty = violation ? config.protocol_violation_penalty : 0;
  const reward = terms.total + penalty;
  episode.total += reward;
  const terminated = episode.step >= episode.maxSteps;
  const truncated = !terminated && episode.step >= episode.budget;
  episode.isOver = terminated || truncated;
  const reason = violation ? VIOLATIONS[violation] : refused;
  const outcome = dumps({
    accepted: reason === undefined,
    rejection_reason: reason ?? null,
    step_idx: episode.step,
  });
  const problem = "problem" in answer ? dumps({ error: answer.problem }) : outcome;
  return {
    observation: describe(episode.simulator.network, episode.step, {
      text: action.text,
      reward,
      refusal: reason,
    }),
    reward,
    ...{ terminated, truncated },
    info: {
      tool_outputs: calls.map(({ call_id }) => ({ call_id, output: problem })),
      guardrail_accepted: reason === undefined,
      rejection_reason: reason ?? null,
      ...{ step_idx: episode.step, n_steps: episode.step },
      cumulative_reward: episode.total,
      reward_terms: {
        ...terms,
        ...(violation && { protocol_violation: penalty }),
        total: reward,
      } as JsonObject,
      ...(violation && { error: violation, protocol_violation: true }),
    },
  };
}

/** The action of an answer, which must be exactly one tool call. */
function readAnswer(calls: Calls): Action | { violation: keyof typeof VIOLATIONS; problem?: string } {
  const [call, ...others] = calls;
  if (!call) return { violation: "no_tool_call" };
  if (others.length > 0) return { violation: "multiple_tool_calls" };
  const action = readAction(call.name, call.arguments);
  return "problem" in action ? { violation: "invalid_tool_call", problem: action.problem } : action;
}

function refusalOf({ simulator, calls, step }: Episode, action: Action): string | undefined {
  const unsafe = refusal(action, simulator.network);
  if (unsafe !== undefined) return unsafe;
  const last = calls.get(action.text);
  return last !== undefined && step - last < REPEAT_WINDOW
    ? `${action.name}: identical-action repeat within ${REPEAT_WINDOW}s window`
    : undefined;
}
