import { expect, it } from "vitest";
import { porterStem } from "./porter.ts";

// Stems of NLTK's PorterStemmer.
it.each(
  Object.entries({
    caresses: "caress",
    ties: "tie",
    flies: "fli",
    skies: "sky",
    dying: "die",
    cried: "cri",
    died: "die",
    agreed: "agre",
    feed: "feed",
    hopping: "hop",
    falling: "fall",
    filing: "file",
    happy: "happi",
    enjoy: "enjoy",
    relational: "relat",
    conditional: "condit",
    rationally: "ration",
    hopefully: "hope",
    geology: "geolog",
    possibly: "possibl",
    electrical: "electr",
    replacement: "replac",
    adoption: "adopt",
    rate: "rate",
    cease: "ceas",
    controll: "control",
    generalizations: "gener",
    by: "by",
  }),
)("stems %s to %s", (word, stem) => {
  expect(porterStem(word)).toBe(stem);
});

it("stems words of any length", () => {
  expect(porterStem("y".repeat(100_000))).toHaveLength(100_000);
});
