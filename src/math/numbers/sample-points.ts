import { spend } from "../budget.ts";
import { children, freeSymbols, type Node, some } from "../expression/node.ts";
import { complex } from "./complex.ts";
import type { ComplexPoint } from "./evaluate.ts";
import type { RationalPoint } from "./exact.ts";
import { add, type Rational, rational } from "./rational.ts";

/** The points at which two expressions are compared. They are fixed, so that a pair always gets the same result. */
export class SamplePoints {
  readonly #names: readonly string[];
  readonly #whole: ReadonlySet<string>;

  constructor(...nodes: readonly Node[]) {
    const names = new Set<string>();
    for (const node of nodes) freeSymbols(node, names);
    this.#names = [...names].sort();
    this.#whole = new Set(nodes.flatMap(boundSymbols));
  }

  get symbols(): readonly string[] {
    return this.#names;
  }

  /** Fractions of both signs. Limits of sums are small whole numbers. */
  rational(index: number): RationalPoint {
    spend(this.#names.length);
    return new Map(this.#names.map((name, place) => [name, this.#rational(name, place, index)]));
  }

  /**
   * Points further away from zero, every other one with whole coordinates. They depend on `seed`, so that nobody can construct
   * an expression that is right at all of them.
   */
  wide(index: number, seed: number): RationalPoint {
    spend(this.#names.length);
    return new Map(
      this.#names.map((name, place) => {
        if (this.#whole.has(name)) return [name, this.#rational(name, place, index)];
        const draw = pseudoRandom(seed + place, index);
        const sign = pseudoRandom(seed + place, index + 100) < 0.5 ? -1 : 1;
        const isWhole = index % 2 === 1;
        const size = isWhole ? 1 + Math.floor(draw * 30) : 200 + Math.floor(draw * 2_000);
        return [name, rational(BigInt(sign * size), isWhole ? 1n : 97n)];
      }),
    );
  }

  /** All symbols near one value, each at a slightly different place. */
  near(value: Rational): RationalPoint {
    spend(this.#names.length);
    return new Map(
      this.#names.map((name, place) => [
        name,
        this.#whole.has(name)
          ? this.#rational(name, place, place)
          : add(value, rational(BigInt(place), 1009n)),
      ]),
    );
  }

  /** As {@link rational}, off the real line for symbols that are not real. */
  complex(index: number): ComplexPoint {
    spend(this.#names.length);
    return new Map(
      this.#names.map((name, place) => {
        const { n, d } = this.#rational(name, place, index);
        const re = Number(n) / Number(d);
        return [
          name,
          name.endsWith("~") && !this.#whole.has(name)
            ? complex(re, 0.4 + pseudoRandom(place + 50, index))
            : complex(re),
        ];
      }),
    );
  }

  #rational(name: string, place: number, index: number): Rational {
    if (this.#whole.has(name)) return rational(BigInt(2 + ((index + place) % 5)));
    const size = 40 + Math.floor(pseudoRandom(place, index) * 200);
    // Covers every combination of signs for up to three symbols.
    const sign = ((index + 1) >> (place % 3)) & 1 ? 1 : -1;
    return rational(BigInt(sign * size), 97n);
  }
}

/** The symbols in the limits of sums and products, which must be whole numbers. */
function boundSymbols(node: Node): string[] {
  const own = node.kind === "bound" && (node.operator === "sum" || node.operator === "product");
  const here = own
    ? [node.from, node.to].flatMap((end) =>
        end && some(end, (part) => part.kind === "symbol") ? [...freeSymbols(end)] : [],
      )
    : [];
  return [...here, ...children(node).flatMap(boundSymbols)];
}

/** A number from 0 to 1 that depends only on two small integers. */
function pseudoRandom(a: number, b: number): number {
  let state = Math.imul(a + 1, 0x9e3779b1) ^ Math.imul(b + 1, 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  state = Math.imul(state ^ (state >>> 12), 0x297a2d39);
  return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32;
}
