import { strip } from "nemo-gym/python";

const FENCE = "```";
const PYTHON_FENCE = "```python";

/** The code of an answer: from its last Python fence, or its last fence of any kind, to the next fence; null if no fence is closed. */
export function fencedPython(text: string): string | null {
  const python = text.lastIndexOf(PYTHON_FENCE);
  const open = python >= 0 ? python + PYTHON_FENCE.length : text.lastIndexOf(FENCE) + FENCE.length;
  if (python < 0 && !text.includes(FENCE)) return null;
  const close = text.indexOf(FENCE, open);
  return close < 0 ? null : text.slice(open, close).replaceAll("\r", "");
}

/** The text after the first end of the model's reasoning; the whole text if there is no reasoning. */
export function afterThoughts(text: string): string {
  const end = text.indexOf("</think>");
  return end < 0 ? text : text.slice(end + "</think>".length);
}

/** The fenced code after the reasoning of an answer. An answer without a fence is all code. */
export function codeOrAll(text: string): string {
  const answer = afterThoughts(text);
  const code = answer.includes(FENCE) ? fencedPython(answer) : answer.replaceAll("\r", "");
  return strip(code ?? "");
}
