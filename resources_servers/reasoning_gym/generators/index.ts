import { baseConversion } from "./base-conversion.ts";
import { caesarCipher } from "./caesar-cipher.ts";
import { chainSum } from "./chain-sum.ts";
import { commonDivisor } from "./common-divisor.ts";
import { countdown } from "./countdown.ts";
import { fractionSimplification } from "./fraction-simplification.ts";
import type { Generator } from "./generator.ts";
import { graphColoring } from "./graph-coloring.ts";
import { knightsKnaves } from "./knights-knaves.ts";
import { letterCounting } from "./letter-counting.ts";
import { miniSudoku } from "./mini-sudoku.ts";
import { numberSorting } from "./number-sorting.ts";
import { polynomialMultiplication } from "./polynomial-multiplication.ts";
import { primeFactors } from "./prime-factors.ts";
import { products } from "./products.ts";
import { queens } from "./queens.ts";
import { shortestPath } from "./shortest-path.ts";
import { spiralMatrix } from "./spiral-matrix.ts";
import { towerOfHanoi } from "./tower-of-hanoi.ts";
import { waterJugs } from "./water-jugs.ts";
import { weekday } from "./weekday.ts";
import { wordSorting } from "./word-sorting.ts";

/** All generators by the name of their task. */
export const generators: ReadonlyMap<string, Generator> = new Map(
  [
    baseConversion,
    caesarCipher,
    chainSum,
    commonDivisor,
    countdown,
    fractionSimplification,
    graphColoring,
    knightsKnaves,
    letterCounting,
    miniSudoku,
    numberSorting,
    polynomialMultiplication,
    primeFactors,
    products,
    queens,
    shortestPath,
    spiralMatrix,
    towerOfHanoi,
    waterJugs,
    weekday,
    wordSorting,
  ].map((generator) => [generator.task, generator]),
);
