import { expect, it } from "vitest";
import { caseFold } from "./case-fold.ts";

it.each([
  ["Straße", "strasse"],
  ["STRASSE", "strasse"],
  ["ẞ", "ss"],
  ["ΟΔΟΣ οδος", "οδοσ οδοσ"],
  ["İzmir ı", "i̇zmir ı"],
  ["ﬁ", "fi"],
  ["Ꭰꭰ", "ᎠᎠ"],
  ["", ""],
])("folds %j to %j", (text, folded) => {
  expect(caseFold(text)).toBe(folded);
});
