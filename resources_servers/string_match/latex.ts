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
/** Removing a command can create another one (`\te\text{xt{`); this is the maximum number of passes. */
const maxPasses = 20;

/** Removes formatting commands and math delimiters from LaTeX and collapses white space. */
export function plainLatex(text: string): string {
  let result = text;
  for (const command of commands) {
    const opening = `\\${command}{`;
    for (let pass = 0; pass < maxPasses && result.includes(opening); pass++) result = unwrap(result, opening);
  }
  return splitWords(result.replace(/\\[()[\]]/g, "").replaceAll("$", "")).join(" ");
}

/** Removes every `opening` and its closing brace; an `opening` that is never closed is removed alone. */
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
