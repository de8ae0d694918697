import type { ResponseInputItem } from "nemo-gym/openai";

const HIDDEN = "[Previous tool result hidden for context management]";

/** The history in which only the last tool results can be read. */
export function withHiddenOutputs(history: readonly ResponseInputItem[], keep: number): ResponseInputItem[] {
  const outputs = history.filter(({ type }) => type === "function_call_output");
  const hidden = new Set(outputs.slice(0, Math.max(0, outputs.length - keep)));
  return history.map((item) =>
    hidden.has(item) ? ({ ...item, output: HIDDEN } as ResponseInputItem) : item,
  );
}

/** The last complete rounds: calls that their results follow at once. Everything between rounds is left out. */
export function lastRounds(history: readonly ResponseInputItem[], keep: number): ResponseInputItem[] {
  const rounds: ResponseInputItem[][] = [];
  for (let index = 0; index < history.length; ) {
    const calls = runOf(history, index, "function_call");
    const outputs = runOf(history, index + calls.length, "function_call_output");
    if (calls.length > 0 && calls.length === outputs.length) rounds.push([...calls, ...outputs]);
    index += Math.max(1, calls.length + outputs.length);
  }
  return keep === 0 ? [] : rounds.slice(-keep).flat();
}

function runOf(history: readonly ResponseInputItem[], from: number, type: string): ResponseInputItem[] {
  let to = from;
  while (history[to]?.type === type) to++;
  return history.slice(from, to);
}
