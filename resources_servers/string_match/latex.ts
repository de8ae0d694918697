import { splitWords } from "nemo-gym/python";

const commands = [
  "boxed",
  "text",
  "textbf",
  "textit",
  "texttt",
  "mathrm",
  "mathbf",
  "mathit",
  "mathsf",
  "mathbb",
  "mathcal",
  "emph",
  "url",
];
const openBrace = 0x7b;
const closeBrace = 0x7d;
/** Taking a command out can put another one together (`\te\text{xt{`); nobody needs that more often than this. */
const maxPasses = 20;

/** Takes formatting commands and math delimiters out of LaTeX; white space collapses. */
export function plainLatex(text: string): string {
  let result = text;
  for (const command of commands) {
    const opening = `\\${command}{`;
    for (let pass = 0; pass < maxPasses && result.includes(opening); pass++) result = unwrap(result, opening);
  }
  return splitWords(result.replace(/\\[()[\]]/g, "").replaceAll("$", "")).join(" ");
}

/** Removes every `opening` and the brace that closes it; one that is never closed goes alone. */
function unwrap(text: string, opening: string): string {
  const removed: { start: number; end: number }[] = [];
  const open: boolean[] = [];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === openBrace) {
      const start = index - opening.length + 1;
      const isCommand = text.startsWith(opening, start);
      open.push(isCommand);
      if (isCommand) removed.push({ start, end: index + 1 });
    } else if (code === closeBrace && open.pop()) removed.push({ start: index, end: index + 1 });
  }
  let result = "";
  let from = 0;
  for (const { start, end } of removed) {
    result += text.slice(from, start);
    from = end;
  }
  return result + text.slice(from);
}
