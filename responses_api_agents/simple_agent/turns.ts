import type { ResponseOutputItem } from "nemo-gym/openai";

/** A turn ends the rollout when it says something and calls nothing; one that only reasoned goes round again. */
export function wantsAnotherTurn(output: readonly ResponseOutputItem[], calls: number): boolean {
  return (
    calls > 0 || !output.some((item) => item.type === "message" && (item.role ?? "assistant") === "assistant")
  );
}

/** The reasoning of a turn as text; null when there is none. */
export function reasoningText(output: readonly ResponseOutputItem[]): string | null {
  const texts: string[] = [];
  for (const item of output) {
    if (item.type !== "reasoning") continue;
    for (const part of item.summary) texts.push(part.text);
  }
  return texts.length > 0 ? texts.join("\n") : null;
}
