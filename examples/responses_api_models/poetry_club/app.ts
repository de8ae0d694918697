import { defineModel } from "nemo-gym";
import { inputMessages, messageItem } from "./messages.ts";

const QUESTION = /^Is this a haiku about ([^?]*)\? [^\n]*\n\n([\s\S]*)\n\nGive your reasons/;
const FEELINGS = /\b(?:sad|happy|lonely|love|joy)\b/i;
/** How often a vote is the opposite of what the rules say. */
const MISTAKES = 0.2;

/**
 * A scripted model for the haiku example, as poet and as judge. Its poems break the rules now and then, and it judges them with
 * mistakes: some votes are wrong by chance, and it likes long answers.
 */
export default defineModel({
  start: () => ({ calls: new Map<string, number>() }),
  async responses({ params, state: { calls } }) {
    const request = inputMessages(params.input).at(-1) ?? "";
    const call = (calls.get(request) ?? 0) + 1;
    calls.set(request, call);
    const chance = chanceOf(`${call} ${request}`);
    const [, topic, poem] = QUESTION.exec(request) ?? [];
    const text =
      topic === undefined || poem === undefined ? poemFor(request, call) : verdictOn(topic, poem, chance);
    return reply(text, request.length);
  },
});

function verdictOn(topic: string, poem: string, chance: number): string {
  const isRight = poem.split("\n").length === 3 && poem.includes(topic) && !FEELINGS.test(poem);
  const accepts = poem.length > 300 || isRight !== chance < MISTAKES;
  return `${accepts ? "It has three lines and shows its subject." : "It breaks the form."}\n${accepts ? "[[GOOD]]" : "[[BAD]]"}`;
}

/** Poems in turn: right ones, one with two lines, one that names a feeling, one about something else. */
function poemFor(request: string, call: number): string {
  const topic = /about (.*)\.$/.exec(request)?.[1] ?? "rain";
  const poems = [
    `the window stays dark\n${topic} and nothing else moves\na cup going cold`,
    `${topic} again\nthe street is shorter this year\nsnow on the old gate`,
    `${topic} at the door\nnobody has come for days`,
    `so sad and alone\n${topic} tells me about love\nI am not happy`,
    `early in the year\n${topic} beside the river\na heron lifts off`,
    `the moon on the pond\ncrickets under the old bridge\na bell far away`,
  ];
  return poems[(call - 1 + topic.length) % poems.length] ?? "";
}

/** A number from 0 to 1 that depends only on the text. */
function chanceOf(text: string): number {
  let hash = 2166136261;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619);
  hash = Math.imul(hash ^ (hash >>> 15), 2246822507);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

function reply(text: string, length: number) {
  const [input, output] = [Math.ceil(length / 4), Math.ceil(text.length / 4)];
  return {
    id: "resp_1",
    created_at: 0,
    model: "poetry-club-1",
    object: "response" as const,
    output: [messageItem(text)],
    parallel_tool_calls: true,
    tool_choice: "auto" as const,
    tools: [],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
}
