import { expect, it } from "vitest";
import { shareInPlace } from "./score.ts";

it("counts the goods that are there in the wanted number", () => {
  expect(shareInPlace({ rice: 2, beans: 1 }, { rice: 2, beans: 3 })).toBe(0.5);
  expect(shareInPlace({}, { salt: 0 })).toBe(1);
  expect(shareInPlace({ rice: 2 }, {})).toBe(1);
});
