type Vector = readonly [number, number, number];
interface Sticker {
  place: Vector;
  normal: Vector;
  colour: number;
}

/** Axis, side (0: whole cube, 0.5: the middle) and direction of a clockwise turn. */
const TURNS: Readonly<
  Record<string, readonly [axis: 0 | 1 | 2, side: 1 | -1 | 0, clockwise: 1 | -1, whole?: true]>
> = {
  R: [0, 1, -1],
  L: [0, -1, 1],
  U: [1, 1, -1],
  D: [1, -1, 1],
  F: [2, 1, -1],
  B: [2, -1, 1],
  M: [0, 0, 1],
  E: [1, 0, 1],
  S: [2, 0, -1],
  X: [0, 0, -1, true],
  Y: [1, 0, -1, true],
  Z: [2, 0, -1, true],
};

const SIDES: readonly Vector[] = [
  [1, 0, 0],
  [-1, 0, 0],
  [0, 1, 0],
  [0, -1, 0],
  [0, 0, 1],
  [0, 0, -1],
];

/** A Rubik's cube as a set of stickers in space; its centre is the origin. */
export class Cube {
  readonly #size: number;
  #stickers: Sticker[];

  constructor(size: number) {
    this.#size = size;
    const span = Array.from({ length: size }, (_, index) => 2 * index - size + 1);
    this.#stickers = SIDES.flatMap((normal, colour) => {
      const axis = normal.findIndex((part) => part !== 0);
      return span.flatMap((a) =>
        span.map((b): Sticker => {
          const others = [a, b];
          const place = normal.map((part, index) =>
            index === axis ? part * (size - 1) : (others.shift() ?? 0),
          );
          return { place: place as unknown as Vector, normal, colour };
        }),
      );
    });
  }

  /** Applies a move such as `R`, `U'` or `Fw` (two layers). */
  turn(move: string): void {
    const match = /^(?:([RLUDFB])(w?)|([MESXYZ]))('?)$/.exec(move);
    const rule = match === null ? undefined : TURNS[match[1] ?? match[3] ?? ""];
    if (rule === undefined) throw new TypeError(`${move} is not a move`);
    const [axis, side, clockwise, whole] = rule;
    const sense = match?.[4] === "'" ? -clockwise : clockwise;
    const outer = side * (this.#size - 1);
    const innermost = match?.[2] === "w" ? outer - 2 * side : outer;
    const turns = (layer: number) => whole || layer === outer || layer === innermost;
    this.#stickers = this.#stickers.map((sticker) => {
      if (!turns(sticker.place[axis])) return sticker;
      return {
        ...sticker,
        place: rotate(sticker.place, axis, sense),
        normal: rotate(sticker.normal, axis, sense),
      };
    });
  }

  /** Whether every side has one colour. */
  isSolved(): boolean {
    const colours = new Map<string, number>();
    return this.#stickers.every(({ normal, colour }) => {
      const side = normal.join();
      const first = colours.get(side) ?? colour;
      colours.set(side, first);
      return first === colour;
    });
  }
}

/** A quarter turn around an axis. */
function rotate(vector: Vector, axis: 0 | 1 | 2, sense: number): Vector {
  const [a, b] = [(axis + 1) % 3, (axis + 2) % 3] as [0 | 1 | 2, 0 | 1 | 2];
  const turned: [number, number, number] = [...vector];
  turned[a] = -sense * vector[b] + 0;
  turned[b] = sense * vector[a] + 0;
  return turned;
}
