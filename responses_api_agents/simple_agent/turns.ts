import type { ResponseOutputItem } from "nemo-gym/openai";

/** A turn ends the rollout when it says something and calls nothing; one that only reasoned goes round again. */
export function wantsAnotherTurn(output: readonly ResponseOutputItem[], calls: number): boolean {
  return (
    calls > 0 || !output.some((item) => item.type === "message" && (item.role ?? "assistant") === "assistant")
  );
}
