import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../wire/sample-schema.ts";
import { Fingerprints } from "./fingerprints.ts";

const random = seededRandom(0, "fingerprints");
const vocabulary = Array.from({ length: 5_000 }, (_, index) => `w${index.toString(36)}`);
const sentence = (length: number) =>
  Array.from({ length }, () => vocabulary[Math.floor(random() * vocabulary.length)]).join(" ");

const COUNT = 2_000;
const rows = Array.from({ length: COUNT }, () => sentence(20 + Math.floor(random() * 40)));
const index = new Fingerprints(COUNT);
for (const row of rows) index.add(row);

const recall = (copyOf: (row: string) => string) =>
  rows.filter((row, at) => index.find(copyOf(row)) === at).length / COUNT;

describe("Fingerprints", () => {
  it.each<[string, (row: string) => string]>([
    ["copies", (row) => row],
    [
      "copies with other case, punctuation and line breaks",
      (row) => row.toUpperCase().replaceAll(" ", ",\n  "),
    ],
    ["copies inside longer texts", (row) => `${sentence(60)}. ${row}! ${sentence(60)}`],
    ["copies with a changed word", (row) => row.replace(/\S+$/, "other")],
  ])("finds at least 95 %% of %s", (_name, copyOf) => {
    expect(recall(copyOf)).toBeGreaterThanOrEqual(0.95);
  });

  it.each([4, 8])("finds embedded rows of %i words, at least 95 percent", (length) => {
    const own = Array.from({ length: COUNT }, () => sentence(length));
    const short = new Fingerprints();
    for (const row of own) short.add(row);
    const found = own.filter(
      (row, at) => short.find(`${sentence(30)}: “${row.replaceAll(" ", "\n")}” ${sentence(9)}`) === at,
    );
    expect(found.length / COUNT).toBeGreaterThanOrEqual(0.95);
    expect(rows.filter((row) => short.find(row) !== undefined).length).toBeLessThan(COUNT / 100);
  });

  it("takes typographic marks, accents and case for what they are", () => {
    const own = new Fingerprints();
    own.add("L'été, Élise a dit : \"C'est déjà l'heure\" - et puis rien.");
    expect(own.find("L’ÉTÉ, E\u0301lise a dit : «C’est déjà l’heure» – et puis rien…")).toBe(0);
  });

  it("finds nothing in other texts", () => {
    expect(rows.filter(() => index.find(sentence(50)) !== undefined)).toEqual([]);
  });

  it("finds short rows, also without spaces", () => {
    const short = new Fingerprints();
    for (const row of [
      "Who wrote Faust?",
      "What is the capital of Peru in South America?",
      "東京は日本の首都ですか。",
    ])
      short.add(row);
    expect(short.find("who wrote  FAUST")).toBe(0);
    expect(short.find("Please answer: what is the capital of Peru in South America? Think first.")).toBe(1);
    expect(short.find("質問: 東京は日本の首都ですか。")).toBe(2);
    expect(short.find("Who wrote Hamlet?")).toBeUndefined();
  });
});
