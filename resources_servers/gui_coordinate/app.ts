import { allAssistantText, defineResourcesServer } from "nemo-gym";
import { laxFloat } from "nemo-gym/openai";
import { parsePyFloat, SPACE_CLASS, toPyInt } from "nemo-gym/python";
import { z } from "zod";

const space = `[${SPACE_CLASS}]*`;
const POINT = new RegExp(
  String.raw`<point>${space}(?:\[${space})?\(${space}(\p{Nd}+)${space},${space}(\p{Nd}+)${space}\)${space}(?:\]${space})?</point>`,
  "u",
);

type Point = [x: number, y: number];

/** Point at something in a picture. The reward falls with the distance. */
export default defineResourcesServer({
  seed: z.looseObject({
    expected_answer: z.string().refine((text) => readPoint(text)?.every(Number.isFinite), {
      message: "must be two numbers such as '0.25,0.75'",
    }),
  }),
  row: z.object({
    expected_answer: z.string(),
    max_dist: laxFloat().default(0.15),
    metadata: z.record(z.string(), z.unknown()).nullish(),
  }),
  echo: ["expected_answer"],
  reverifyMode: "stateless",
  verify({ row, response }) {
    const expected = readPoint(row.expected_answer);
    const found = findPoint(allAssistantText(response));
    if (!expected || !found) return { reward: 0, extracted_x: null, extracted_y: null, distance: null };
    const distance = Math.hypot(found[0] - expected[0], found[1] - expected[1]);
    const reward = distance >= row.max_dist ? 0 : (1 - distance / row.max_dist) ** 2;
    return { reward, extracted_x: found[0], extracted_y: found[1], distance };
  },
});

/** `x,y` as shares of the width and the height. */
function readPoint(text: string): Point | undefined {
  const [x, y, ...rest] = text.split(",").map(parsePyFloat);
  return x === undefined || y === undefined || rest.length > 0 ? undefined : [x, y];
}

/** The first `<point>(x, y)</point>`, in thousandths of the width and the height. */
function findPoint(text: string): Point | undefined {
  const match = POINT.exec(text);
  const [x, y] = [match?.[1], match?.[2]].map((digits) => Number(toPyInt(digits)) / 1000);
  return x !== undefined && y !== undefined && Number.isFinite(x + y) ? [x, y] : undefined;
}
