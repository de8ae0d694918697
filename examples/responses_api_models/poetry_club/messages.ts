/** The texts of the messages of a request. */
export function inputMessages(input: string | readonly object[]): string[] {
  if (typeof input === "string") return [input];
  return input.flatMap((item) => ("role" in item && "content" in item ? [textOf(item.content)] : []));
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
}

export function messageItem(text: string) {
  const content = [{ type: "output_text" as const, text, annotations: [] }];
  return {
    id: "msg_1",
    type: "message" as const,
    role: "assistant" as const,
    status: "completed" as const,
    content,
  };
}
