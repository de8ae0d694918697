import { errorMessage } from "nemo-gym";
import type { ResponseInputItem } from "nemo-gym/openai";

const OVERFLOW =
  /context[ _]length|maximum context|context window|too long|too many tokens|reduce the length/i;

/** Whether a model refused a request because it is too long for its context. */
export function isOverflow(error: unknown): boolean {
  return OVERFLOW.test(errorMessage(error));
}

/** The history without its oldest exchange: an answer of the model and what followed it. Undefined if there is only one. */
export function withoutOldestExchange(
  history: readonly ResponseInputItem[],
): ResponseInputItem[] | undefined {
  const isReply = (item: ResponseInputItem | undefined) =>
    item?.type === "function_call_output" || (item !== undefined && "role" in item && item.role === "user");
  const end = history.findIndex(
    (item, index) => isReply(item) && index + 1 < history.length && !isReply(history[index + 1]),
  );
  return end < 0 ? undefined : history.slice(end + 1);
}
