import { expect, it } from "vitest";
import { caseFold, isLower, isUpper } from "./case.ts";

it.each([
  ["ABC 1!", true, false],
  ["abc 1!", false, true],
  ["Abc", false, false],
  ["123", false, false],
  ["", false, false],
  ["ÉÀ", true, false],
  ["ß", false, true],
  ["ǅ", false, false],
  ["Aǅ", false, false],
  ["Ⅷ", true, false],
  ["ª", false, true],
])("case of %j", (text, upper, lower) => {
  expect([isUpper(text), isLower(text)]).toEqual([upper, lower]);
});

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
