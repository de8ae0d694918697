import { JsonTextError, loadsPlain, SPACE_CLASS } from "nemo-gym/python";

const space = `[${SPACE_CLASS}]`;
const inner = String.raw`[\p{Nd}${SPACE_CLASS},\[\]]`;
const boxed = new RegExp(String.raw`\\boxed\{(\[${space}*\[${inner}+\]${space}*\])\}`, "gu");
const run = new RegExp(`${inner}+`, "gu");
const opening = new RegExp(String.raw`\[${space}*\[`, "u");
const closing = new RegExp(String.raw`\](?=${space}*\])`, "gu");
const anySpace = new RegExp(space, "gu");

/** The first valid grid of the boxes, or of the whole text if no box has the form of a grid. */
export function findGrid(text: string): number[][] | undefined {
  const boxes = Array.from(text.matchAll(boxed), (match) => match[1] ?? "");
  for (const candidate of boxes.length > 0 ? boxes : bareGrids(text)) {
    const grid = parseGrid(candidate);
    if (grid) return grid;
  }
  return undefined;
}

/** In each part of digits, commas and brackets: from the first `[[` to the last `]]`. */
function* bareGrids(text: string): Generator<string> {
  for (const [part] of text.matchAll(run)) {
    const start = opening.exec(part);
    const end = [...part.matchAll(closing)].at(-1);
    if (start && end && end.index > start.index + start[0].length)
      yield part.slice(start.index, part.indexOf("]", end.index + 1) + 1);
  }
}

function parseGrid(text: string): number[][] | undefined {
  let value: unknown;
  try {
    value = loadsPlain(text.replace(anySpace, ""));
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
  return isGrid(value) && value[0]?.length ? value : undefined;
}

function isGrid(value: unknown): value is number[][] {
  return (
    Array.isArray(value) &&
    value.every(
      (row) => Array.isArray(row) && row.every((cell) => ["number", "bigint"].includes(typeof cell)),
    )
  );
}
