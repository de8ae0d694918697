/** The contents of all `\boxed{…}` with their positions. Braces after a backslash do not count. */
export function boxes(text: string): { start: number; text: string }[] {
  const open: { box: number | undefined; content: number }[] = [];
  const found: { start: number; text: string }[] = [];
  for (const { 0: token, index } of text.matchAll(/\\boxed\s*\{|\\[\s\S]|[{}]/g)) {
    if (token === "}") {
      const opening = open.pop();
      if (opening?.box !== undefined)
        found.push({ start: opening.box, text: text.slice(opening.content, index).trim() });
    } else if (token.endsWith("{") && token !== "\\{") {
      open.push({ box: token === "{" ? undefined : index, content: index + token.length });
    }
  }
  return found;
}
