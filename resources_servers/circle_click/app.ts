import { defineResourcesServer } from "nemo-gym";
import { functionCalls } from "nemo-gym/openai";
import { isObject, JsonTextError, loads, pyEquals, toPyInt } from "nemo-gym/python";
import { z } from "zod";

const Circle = z.looseObject({ x: z.number(), y: z.number(), radius: z.number(), color: z.string() });
const coordinate = z.json();

/** Click on the circle of a colour in a picture. The first click counts. */
export default defineResourcesServer({
  seed: z.looseObject({ circles: z.array(Circle).min(1), target_color: z.string().min(1) }),
  row: z.object({
    circles: z.array(z.record(z.string(), z.unknown())).default([]),
    target_color: z.string().default(""),
  }),
  echo: [],
  reverifyMode: "stateless",
  tools: {
    click: {
      description: "Clicks on a pixel of the picture.",
      input: z.object({ x: coordinate, y: coordinate }),
      run: ({ input }) => input,
    },
  },
  verify({ row, response }) {
    const click = functionCalls(response).find(({ name }) => name === "click");
    const [x, y] = click ? readPoint(click.arguments) : [];
    const target = row.circles.find(({ color }) => color === undefined || pyEquals(color, row.target_color));
    const hit = x !== undefined && y !== undefined && contains(target, x, y);
    return { reward: hit, clicked_x: x ?? null, clicked_y: y ?? null, hit };
  },
});

/** The point of a call. A bad `x` hides `y`, as in the original. */
function readPoint(text: string): (number | undefined)[] {
  try {
    const given = loads(text, { allowNonFinite: true });
    if (!isObject(given)) return [];
    const x = toPyInt(given["x"]);
    const y = toPyInt(given["y"]);
    return x === undefined ? [] : [Number(x), y === undefined ? undefined : Number(y)];
  } catch (error) {
    if (error instanceof JsonTextError) return [];
    throw error;
  }
}

function contains(target: unknown, x: number, y: number): boolean {
  const { data: circle } = Circle.safeParse(target);
  return circle !== undefined && Math.hypot(x - circle.x, y - circle.y) <= circle.radius;
}
