import { dumpsCompact, isObject } from "../../base/python/json/door.ts";
import type { Row } from "../../records/files/door.ts";

/** Longest texts that a reflection model reads; what is cut is marked. */
const MAX_PART = 2_000;
const MAX_STEPS = 40;
const MAX_EXAMPLE = 12_000;

/** A rollout of a task, with what the health check found. */
export interface Attempt {
  row: Row;
  findings: readonly string[];
}

/** Members of a result that say nothing about the answer. */
const SILENT = new Set(["responses_create_params", "response", "reward", "agent_ref", "skills_ref"]);

/**
 * Describes the rollouts of one task: the task, what the agent did, and what the verifier, the tools, the judge and the
 * health check report. If some repeats passed and others did not, one of each is shown.
 */
export function describeTask(attempts: readonly Attempt[], perfect: number): string {
  const worst = [...attempts].sort((left, right) => rewardOf(left) - rewardOf(right));
  const [failing] = worst;
  const best = worst.at(-1);
  if (failing === undefined || best === undefined) return "";
  const parts = [
    section("Task", promptOf(failing.row)),
    section(`What the agent did (reward ${rewardOf(failing)})`, stepsOf(failing.row)),
    section("What the verifier reports", verdictOf(failing.row)),
    section("Findings of the health check", failing.findings.join("\n")),
  ];
  if (rewardOf(best) > rewardOf(failing)) {
    const note = rewardOf(best) >= perfect ? "passed" : "did better";
    parts.push(
      section(`Another attempt at the same task ${note} (reward ${rewardOf(best)})`, stepsOf(best.row)),
    );
  }
  return cut(parts.filter((part) => part !== "").join("\n\n"), MAX_EXAMPLE);
}

function rewardOf({ row }: Attempt): number {
  return typeof row["reward"] === "number" ? row["reward"] : 0;
}

function section(title: string, text: string): string {
  return text === "" ? "" : `## ${title}\n${text}`;
}

function promptOf(row: Row): string {
  const params = row["responses_create_params"];
  const input = isObject(params) ? params["input"] : undefined;
  if (typeof input === "string") return cut(input);
  const messages = (Array.isArray(input) ? input : []).filter(
    (item) => isObject(item) && item["role"] !== "system" && item["role"] !== "developer",
  );
  return cut(messages.map((item) => stepText(item)).join("\n"), MAX_PART * 2);
}

/** The output of the agent, one line per step. */
function stepsOf(row: Row): string {
  const response = row["response"];
  const output = isObject(response) && Array.isArray(response["output"]) ? response["output"] : [];
  const steps = output.map(stepText).filter((text) => text !== "");
  if (steps.length <= MAX_STEPS) return steps.join("\n") || "(no output)";
  const half = MAX_STEPS / 2;
  const dropped = `[${steps.length - MAX_STEPS} steps are not shown]`;
  return [...steps.slice(0, half), dropped, ...steps.slice(-half)].join("\n");
}

function stepText(item: unknown): string {
  if (!isObject(item)) return "";
  switch (item["type"]) {
    case "function_call":
      return `call ${item["name"]}(${cut(String(item["arguments"] ?? ""))})`;
    case "function_call_output":
      return `result: ${cut(textOf(item["output"]))}`;
    case "reasoning":
      return "";
    default: {
      const text = textOf(item["content"]);
      return text === "" ? "" : `${item["role"] ?? item["type"]}: ${cut(text)}`;
    }
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : dumpsCompact(content);
  return content
    .map((part) => (isObject(part) ? String(part["text"] ?? `[${part["type"]}]`) : String(part)))
    .join("");
}

/** Every field of the result that the verifier, the tools or the judge wrote. */
function verdictOf(row: Row): string {
  const lines = Object.entries(row).flatMap(([key, value]) => {
    const isInternal = key.startsWith("_ng_") && key !== "_ng_tool_exceptions";
    if (SILENT.has(key) || isInternal || value === null || value === undefined) return [];
    return [`${key}: ${cut(typeof value === "string" ? value : dumpsCompact(value))}`];
  });
  return lines.join("\n");
}

export function cut(text: string, most = MAX_PART): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)} […${text.length - most} more characters]`;
}
