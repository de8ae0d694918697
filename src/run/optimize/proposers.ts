import { isObject } from "../../base/python/json/door.ts";
import type { Row } from "../../records/files/door.ts";
import { callServer, type ServerClient } from "../../servers/calls/door.ts";
import type { Texts } from "./merge.ts";

/** What a proposer knows about the parent of the next candidate. */
export interface ProposalRequest {
  /** All texts of the parent. */
  texts: Texts;
  /** The component to change. */
  component: string;
  /** Descriptions of training tasks that the parent ran, worst first. */
  examples: readonly { reward: number; text: string }[];
  /** Rewards from here on count as passed. */
  perfect: number;
}

/** A new text for the component, or the reason why there is none. */
export type Proposal = { text: string } | { rejected: string };

/** Proposes a new text for a component. */
export interface Proposer {
  propose(request: ProposalRequest, ask: Ask): Promise<Proposal>;
}

/** Asks the reflection model; the reply is its text. */
export type Ask = (prompt: string) => Promise<string>;

/** A text longer than this is rejected: it would be paid for in every call. */
const MAX_TEXT = 20_000;

export const PROPOSERS = { reflect: reflecting(), rewrite: rewriting() } as const satisfies Record<
  string,
  Proposer
>;
export type ProposerName = keyof typeof PROPOSERS;

/** Shows all rollouts of the minibatch and asks what to learn from them. */
function reflecting(): Proposer {
  return {
    propose: ({ texts, component, examples, perfect }, ask) =>
      answered(
        ask,
        `An agent works with the texts below. You improve one of them: "${component}".

${otherTexts(texts, component)}# Text of "${component}" now
${fenced(texts[component] ?? "")}

# What happened
${examples.map(({ reward, text }, place) => `# Example ${place + 1}: ${reward >= perfect ? "passed" : "not passed"}, reward ${reward}\n${text}`).join("\n\n")}

# Your task
Find out why the examples that did not pass failed, and what the passing ones did right. Then write a better version of the text of
"${component}". Keep what works. State general rules, facts about the environment and strategies that help with all tasks of this kind. Do not copy
answers of single tasks. ${aboutTemplate(component)}If this text cannot help, repeat it unchanged.
Reply with the complete new text between two lines of three backticks, and nothing after it.`,
      ),
  };
}

/** Shows only what went wrong and asks for a rewrite. */
function rewriting(): Proposer {
  return {
    propose: ({ texts, component, examples, perfect }, ask) => {
      const failures = examples.filter(({ reward }) => reward < perfect);
      return answered(
        ask,
        `Rewrite this text of an agent, "${component}", so that the failures below do not happen again.

${fenced(texts[component] ?? "")}

# Failures
${failures.map(({ text }) => text).join("\n\n")}

Reply with the complete new text between two lines of three backticks. ${aboutTemplate(component)}Give rules, not answers of single tasks.`,
      );
    },
  };
}

function aboutTemplate(component: string): string {
  if (!component.startsWith("prompt.")) return "";
  return "The text is a template: keep its {fields}, add none, and write other braces twice ({{ and }}). ";
}

function otherTexts(texts: Texts, component: string): string {
  const others = Object.entries(texts).filter(([name, text]) => name !== component && text !== "");
  if (others.length === 0) return "";
  const shown = others.map(
    ([name, text]) => `"${name}": ${text.length > 500 ? `${text.slice(0, 500)} […]` : text}`,
  );
  return `# Other texts of the agent, which stay as they are\n${shown.slice(0, 30).join("\n")}\n\n`;
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}

async function answered(ask: Ask, prompt: string): Promise<Proposal> {
  const reply = await ask(prompt);
  if (reply.trim() === "") return { rejected: "the reflection model answered nothing" };
  const text = lastFence(reply);
  if (text === undefined) return { rejected: "the reply has no text between lines of three backticks" };
  if (text.length > MAX_TEXT)
    return { rejected: `the text has ${text.length} characters (at most ${MAX_TEXT} are allowed)` };
  return { text };
}

/** The text from the first opening fence to the last closing one: the text itself may contain code blocks. */
function lastFence(reply: string): string | undefined {
  const fences = [...reply.matchAll(/^[ \t]*```.*$/gm)];
  const [open] = fences;
  const close = fences.at(-1);
  if (open === undefined || close === undefined || open === close) return undefined;
  const text = reply.slice(open.index + open[0].length + 1, close.index).trim();
  return text === "" ? undefined : text;
}

/** Without an answer for this long, a notice says that the call still runs: it may be retried. */
const NOTICE_MS = 10_000;

/** Calls a model server of the config; the tokens of the reply and slow calls are reported. */
export function reflectionModel(
  client: ServerClient,
  server: string,
  {
    signal,
    onTokens,
    onNotice,
  }: {
    signal?: AbortSignal | undefined;
    onTokens: (tokens: number) => void;
    onNotice: (text: string) => void;
  },
): Ask {
  return async (prompt) => {
    const body = { input: [{ role: "user", content: prompt }] };
    const start = performance.now();
    const timer = setInterval(() => {
      const seconds = Math.round((performance.now() - start) / 1000);
      onNotice(
        `The reflection model '${server}' has not answered for ${seconds} s; failed calls are retried.`,
      );
    }, NOTICE_MS);
    const reply = await callServer(client, {
      server,
      path: "/v1/responses",
      body,
      stage: "model",
      signal,
    }).finally(() => clearInterval(timer));
    const response = reply.json();
    const { usage, output } = isObject(response) ? response : ({} as Row);
    if (isObject(usage) && typeof usage["total_tokens"] === "number") onTokens(usage["total_tokens"]);
    return (Array.isArray(output) ? output : []).flatMap(messageText).join("");
  };
}

function messageText(item: unknown): string[] {
  if (!isObject(item) || item["type"] !== "message" || !Array.isArray(item["content"])) return [];
  return item["content"].map((part) =>
    isObject(part) && typeof part["text"] === "string" ? part["text"] : "",
  );
}
