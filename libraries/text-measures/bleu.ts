import { splitWords } from "nemo-gym/python";
import { ngramCounts } from "./rouge.ts";

const maxOrder = 4;

/** Sentence BLEU from 0 to 1 with n-grams up to 4 and without smoothing: 0 if the texts share no n-gram of some order. */
export function bleu(text: string, reference: string): number {
  const found = tokenize13a(text);
  const wanted = tokenize13a(reference);
  let logSum = 0;
  for (let order = 1; order <= maxOrder; order++) {
    const right = ngramCounts(wanted, order);
    let shared = 0;
    for (const [ngram, count] of ngramCounts(found, order)) shared += Math.min(count, right.get(ngram) ?? 0);
    if (shared === 0) return 0;
    logSum += Math.log(shared / (found.length - order + 1));
  }
  const brevity = found.length < wanted.length ? Math.exp(1 - wanted.length / found.length) : 1;
  return brevity * Math.exp(logSum / maxOrder);
}

/** The words of a text by the rules of mteval-v13a: punctuation is split off, but not from numbers. */
export function tokenize13a(text: string): string[] {
  const line = text
    .replaceAll("<skipped>", "")
    .replaceAll("-\n", "")
    .replaceAll("\n", " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");
  const split = ` ${line} `
    .replace(/[{-~[-` -&(-+:-@/]/g, " $& ")
    .replace(/([^0-9])([.,])/gu, "$1 $2 ")
    .replace(/([.,])([^0-9])/gu, " $1 $2")
    .replace(/([0-9])(-)/g, "$1 $2 ");
  return splitWords(split);
}
