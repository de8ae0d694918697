import { describe, expect, it } from "vitest";
import { MersenneTwister, PyRandom } from "./random.ts";

/** Drawn in this order with CPython 3.11. */
const drawn = [
  {
    seed: 0,
    floats: [0.8444218515250481, 0.7579544029403025],
    int: 54,
    choice: "a",
    bits: [0, 247, 2195908194],
    shuffled: [8, 0, 5, 1, 9, 2, 3, 4, 6, 7],
    samples: [
      [4, 2, 1, 9],
      [32, 68, 90],
      [829, 616, 923, 150, 317, 101, 747],
    ],
    uniform: -0.5575453982276493,
    wide: 1418186270,
  },
  {
    seed: -7,
    floats: [0.32383276483316237, 0.15084917392450192],
    int: 84,
    choice: "a",
    bits: [0, 210, 2301595691],
    shuffled: [3, 2, 8, 6, 7, 9, 4, 0, 5, 1],
    samples: [
      [1, 3, 9, 4],
      [54, 7, 72],
      [126, 970, 228, 645, 642, 596, 63],
    ],
    uniform: 2.462617691704992,
    wide: 1703729684,
  },
  {
    seed: 2n ** 70n + 3n,
    floats: [0.16339507200642456, 0.9974755625541745],
    int: 32,
    choice: "f",
    bits: [0, 42, 142793064],
    shuffled: [8, 6, 3, 7, 2, 1, 4, 9, 0, 5],
    samples: [
      [4, 2, 5, 0],
      [44, 51, 47],
      [619, 192, 672, 166, 726, 594, 577],
    ],
    uniform: -0.8860326689791791,
    wide: 131820610,
  },
];

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("PyRandom", () => {
  it.each(drawn)("repeats what Python draws with seed $seed", (expected) => {
    const random = new PyRandom(expected.seed);
    expect([random.random(), random.random()]).toEqual(expected.floats);
    expect(random.int(1, 100)).toBe(expected.int);
    expect(random.choice([..."abcdef"])).toBe(expected.choice);
    expect([1, 8, 32].map((count) => random.bits(count))).toEqual(expected.bits);
    expect(random.shuffle(range(10))).toEqual(expected.shuffled);
    expect([
      random.sample(range(10), 4),
      random.sample(range(100), 3),
      random.sample(range(1000), 7),
    ]).toEqual(expected.samples);
    expect(random.uniform(-1, 5)).toBe(expected.uniform);
    expect(random.int(0, 2 ** 32 - 1)).toBe(expected.wide);
  });

  it("rejects invalid limits", () => {
    const random = new PyRandom(1);
    for (const limit of [0, -1, 1.5, 2 ** 53]) expect(() => random.below(limit)).toThrow(RangeError);
    expect(() => random.sample([1], 2)).toThrow(RangeError);
  });
});

describe("MersenneTwister", () => {
  it("returns the reference output for seed 5489", () => {
    const twister = MersenneTwister.fromNumber(5489);
    expect([twister.next(), twister.next(), twister.next()]).toEqual([3499211612, 581869302, 3890346734]);
  });
});
