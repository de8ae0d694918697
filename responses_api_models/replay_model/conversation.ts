import type { ResponseInputItem } from "nemo-gym/openai";

/** The position in a conversation: the input before the first model turn, and the number of model turns. */
export function splitConversation(input: readonly ResponseInputItem[]): {
  question: ResponseInputItem[];
  turns: number;
} {
  const firstOfModel = input.findIndex(isOfModel);
  if (firstOfModel < 0) return { question: [...input], turns: 0 };
  let turns = 0;
  input.forEach((item, index) => {
    const next = input[index + 1];
    if (isOfModel(item) && (next === undefined || !isOfModel(next))) turns++;
  });
  return { question: input.slice(0, firstOfModel), turns };
}

function isOfModel(item: ResponseInputItem): boolean {
  if (item.type === "function_call" || item.type === "reasoning") return true;
  return "role" in item && item.role === "assistant";
}
