import { JudgeError } from "nemo-gym";
import { isObject, loadsPlain, strip, toPyFloat } from "nemo-gym/python";
import type { Member } from "./config.ts";
import { sum } from "./elo.ts";
import type { Part } from "./files.ts";
import { type Ask, type Asked, RUBRIC_ATTEMPTS } from "./judging.ts";

const SCORES = ["overall_score", "total_score", "score", "average_score", "final_score"];
const SYSTEM =
  "You grade work products against a rubric. You are strict and fair, and you answer with JSON only.";
const CLOSE = 0.01;
const clamp = (value: number) => Math.min(1, Math.max(0, value));

export interface Graded {
  reward: number;
  judge_response: Record<string, unknown> | null;
  invalid_judge_response: boolean;
  _ng_failure_class?: string;
  _ng_failure_judge_error?: string;
}
const invalid = (reward = 0): Graded => ({ reward, judge_response: null, invalid_judge_response: true });

/** One grade for everything. */
export async function gradeBinary(
  ask: Ask,
  member: Member,
  content: Asked["content"],
  keepRaw: boolean,
): Promise<Graded> {
  let text: string;
  try {
    text = await ask({ member, system: SYSTEM, content, temperature: 0.1 }, RUBRIC_ATTEMPTS);
  } catch (error) {
    if (!(error instanceof JudgeError)) throw error;
    return { ...invalid(), _ng_failure_class: "judge_failed", _ng_failure_judge_error: error.message };
  }
  const value = readJson(unfenced(text));
  if (value === undefined) return invalid(scoreOfTruncated(text));
  if (!isObject(value)) return invalid();
  const score = scoreOf(value);
  if (score === undefined) return invalid();
  const judge_response = { ...value, judge_name: member.name, ...(keepRaw && { raw_responses: [text] }) };
  return { reward: clamp(score), judge_response, invalid_judge_response: false };
}

function scoreOf(value: Record<string, unknown>): number | undefined {
  const named = SCORES.find((name) => Object.hasOwn(value, name));
  if (named !== undefined) return toPyFloat(value[named]) ?? undefined;
  const { criteria_scores: list } = value;
  if (!Array.isArray(list)) return 0;
  const scores = list.filter(isObject).map((item) => toPyFloat(item["score"] ?? 0) ?? Number.NaN);
  if (scores.some(Number.isNaN)) return undefined;
  return scores.length > 0 ? sum(scores) / scores.length : 0;
}

/** The mean of all scores in a text that is no longer JSON. */
export function scoreOfTruncated(text: string): number {
  const scores = [...text.matchAll(/"score"\s*:\s*(-?\d+(?:\.\d+)?)/g)].map(([, digits]) => Number(digits));
  return scores.length > 0 ? clamp(sum(scores) / scores.length) : 0;
}

/** The score and the maximum that a reply ends with. */
export function structuredScore(text: string): [number | null, number | null] {
  const read = (tag: string) => {
    const found = new RegExp(`${tag}\\[\\s*([+-]?\\d+(?:\\.\\d+)?)\\s*\\]`).exec(text)?.[1];
    return found === undefined ? null : Number(found);
  };
  return [read("FINAL_SCORE"), read("MAX_POSSIBLE_SCORE")];
}

/** Several grades in points, each by a member of the panel. */
export async function gradeStructured(
  ask: Ask,
  draw: () => Member,
  content: string | readonly Part[],
  { points, trials, retries, keepRaw }: { points: number; trials: number; retries: number; keepRaw: boolean },
): Promise<Graded> {
  const valid: { score: number; most: number; judge: string; text: string }[] = [];
  for (let trial = 0; trial < trials; trial++) {
    const member = draw();
    for (let attempt = 0; attempt < retries; attempt++) {
      const text = await ask({ member, content, temperature: 0.3 }, { ...RUBRIC_ATTEMPTS, calls: retries });
      const [score, most] = structuredScore(text);
      if (score === null || most === null || (points > 0 && Math.abs(most - points) > CLOSE)) continue;
      valid.push({ score, most, judge: member.name, text });
      break;
    }
  }
  const [first] = valid;
  if (!first)
    return {
      reward: 0,
      judge_response: { error: "no_valid_scores", num_trials: trials },
      invalid_judge_response: false,
    };
  const percentages = valid.map(({ score, most }) => (most > 0 ? (100 * score) / most : 0));
  const average = sum(valid.map(({ score }) => score)) / valid.length;
  return {
    reward: first.most > 0 ? clamp(average / first.most) : 0,
    judge_response: {
      scoring_method: "structured_rubric",
      scores: valid.map(({ score }) => score),
      max_possible_scores: valid.map(({ most }) => most),
      score_percentages: percentages,
      average_score: average,
      overall_score_percentage: sum(percentages) / percentages.length,
      max_possible_score: first.most,
      num_trials_completed: valid.length,
      num_trials_requested: trials,
      trial_judges: valid.map(({ judge }) => judge),
      ...(keepRaw && { raw_responses: valid.map(({ text }) => text) }),
    },
    invalid_judge_response: false,
  };
}

/** The points of a rubric; 0 if it has none. */
export function pointsOf(rubric: unknown): number {
  const value = typeof rubric === "string" ? readJson(rubric) : rubric;
  const list = isObject(value) ? value["criteria"] : value;
  const items = Array.isArray(list) ? list.filter(isObject) : [];
  return sum(items.map((item) => amount(item["score"]) ?? amount(item["weight"]) ?? 0));
}

const amount = (value: unknown) =>
  typeof value === "number" || typeof value === "boolean" ? Number(value) : undefined;

function unfenced(text: string): string {
  const open = /```(?:json)?/.exec(text);
  if (!open) return strip(text);
  const rest = text.slice(open.index + open[0].length);
  const close = rest.indexOf("```");
  return strip(close < 0 ? rest : rest.slice(0, close));
}

function readJson(text: string): unknown {
  try {
    return loadsPlain(text);
  } catch {
    return undefined;
  }
}
