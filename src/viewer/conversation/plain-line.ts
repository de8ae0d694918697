/** Only the beginning of a text is used. */
const LOOKED_AT = 1000;
const THOUGHTS_END = "</think>";
/** The beginning of thoughts, headings, fences, and the line below the head of a table. */
const MARKS = /^\s*<think>|^[ \t]*#{1,6}[ \t]+(?=[\p{L}\p{N}*`])|^[ \t]*`{3,}.*$|^[ \t]*\|[ \t|:-]+$/gmu;
/** Bold text; `2**3` is none. */
const BOLD = /(?<![\w)])\*\*(?=\S)([^*\n]+)\*\*(?!\w)/g;
const COLOURS = /\u001b\[[\d;?]*[A-Za-z]/g;

/** The beginning of a text on one line: without the thoughts before an answer, marks of Markdown, and colours of a terminal. */
export function plainLine(text: string): string {
  const end = text.indexOf(THOUGHTS_END);
  const answer = end === -1 ? "" : text.slice(end + THOUGHTS_END.length);
  const begin = (answer.trim() === "" ? text : answer).slice(0, LOOKED_AT).replace(COLOURS, "");
  return oneLine(begin.replace(MARKS, "").replace(BOLD, "$1")) || oneLine(begin);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
