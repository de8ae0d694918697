const FENCE = "```";
const PYTHON_FENCE = "```python";

/** The code of an answer: from its last Python fence, or its last fence of any kind, to the next one; null where none is closed. */
export function fencedPython(text: string): string | null {
  const python = text.lastIndexOf(PYTHON_FENCE);
  const open = python >= 0 ? python + PYTHON_FENCE.length : text.lastIndexOf(FENCE) + FENCE.length;
  if (python < 0 && !text.includes(FENCE)) return null;
  const close = text.indexOf(FENCE, open);
  return close < 0 ? null : text.slice(open, close).replaceAll("\r", "");
}

/** What follows the first end of a model's thoughts; all of it where there are none. */
export function afterThoughts(text: string): string {
  const end = text.indexOf("</think>");
  return end < 0 ? text : text.slice(end + "</think>".length);
}
