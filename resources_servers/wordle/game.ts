/** A game of Wordle with its score. */
export interface Game {
  readonly target: string;
  readonly maxTurns: number;
  turn: number;
  total: number;
  state: "open" | "won" | "lost";
  readonly guesses: string[];
  readonly feedbacks: string[];
  readonly greens: Map<number, string>;
  readonly yellows: Set<string>;
  readonly eliminated: Set<string>;
}

export interface GuessReply {
  valid: boolean;
  feedback: string | null;
  won: boolean;
  game_over: boolean;
  turn: number;
  turns_remaining: number;
  error: string | null;
  target_word: string | null;
}

const INVALID = 0.02;
const REPEATED = 0.2;
const IGNORED_GREEN = 0.05;
const IGNORED_YELLOWS = 0.03;
const ELIMINATED = 0.02;

export function createGame(target: string, maxTurns: number): Game {
  return {
    ...{ target, maxTurns, turn: 0, total: 0, state: "open", guesses: [], feedbacks: [] },
    ...{ greens: new Map(), yellows: new Set(), eliminated: new Set() },
  };
}

/** Takes a guess. Every guess costs a turn, also an invalid one. */
export function submitGuess(game: Game, guess: string, words: ReadonlySet<string>): GuessReply {
  if (game.state !== "open") return reply(game, { error: "Game is already over." });
  game.turn++;
  const error = wordError(game, guess, words);
  let feedback: string | null = null;
  if (error === null) {
    feedback = feedbackFor(guess, game.target);
    if (guess === game.target) win(game);
    else game.total -= penaltyOf(game, guess);
    learn(game, guess, feedback);
  } else game.total -= INVALID;
  if (game.state === "open" && game.turn >= game.maxTurns) {
    game.state = "lost";
    game.total = 0;
  }
  return reply(game, { valid: error === null, feedback, error });
}

/** Green (G) letters first; then each other letter of the target makes one letter of the guess yellow (Y). */
export function feedbackFor(guess: string, target: string): string {
  const marks: string[] = [...guess].map((letter, at) => (letter === target[at] ? "G" : "_"));
  const left = [...target].filter((_, at) => marks[at] !== "G");
  for (const [at, letter] of [...guess].entries()) {
    const found = marks[at] === "G" ? -1 : left.indexOf(letter);
    if (found < 0) continue;
    marks[at] = "Y";
    left.splice(found, 1);
  }
  return marks.join("");
}

export function describe(game: Game) {
  const upper = (letters: Iterable<string>) => [...letters].sort().map((letter) => letter.toUpperCase());
  const greens = [...game.greens].sort(([a], [b]) => a - b);
  return {
    turn: game.turn,
    turns_remaining: game.maxTurns - game.turn,
    guesses: game.guesses.map((guess) => guess.toUpperCase()),
    feedback_history: [...game.feedbacks],
    known_greens: Object.fromEntries(greens.map(([at, letter]) => [String(at + 1), letter.toUpperCase()])),
    known_yellows: upper(game.yellows),
    eliminated_letters: upper(game.eliminated),
    game_over: game.state !== "open",
    won: game.state === "won",
  };
}

function wordError({ target }: Game, guess: string, words: ReadonlySet<string>): string | null {
  if (guess.length !== target.length)
    return `Guess must be ${target.length} letters. Got ${guess.length} letters.`;
  return words.has(guess) ? null : `'${guess}' is not a valid English word.`;
}

function win(game: Game): void {
  game.state = "won";
  // The first guess is luck: it counts as the third.
  const turn = game.turn === 1 ? 3 : game.turn;
  game.total = Math.max(0.1, game.total + 2 - 0.2 * (turn - 1));
}

/** What a wrong guess costs that ignores what is known. */
function penaltyOf({ guesses, greens, yellows, eliminated }: Game, guess: string): number {
  const letters = [...guess];
  let penalty = guesses.includes(guess) ? REPEATED : 0;
  for (const [at, letter] of greens) if (guess[at] !== letter) penalty += IGNORED_GREEN;
  if (yellows.size > 0 && !letters.some((letter) => yellows.has(letter))) penalty += IGNORED_YELLOWS;
  return penalty + ELIMINATED * letters.filter((letter) => eliminated.has(letter)).length;
}

function learn(
  { guesses, feedbacks, greens, yellows, eliminated }: Game,
  guess: string,
  feedback: string,
): void {
  guesses.push(guess);
  feedbacks.push(feedback);
  const letters = [...guess].entries();
  const marked = [...letters].map(([at, letter]) => ({ at, letter, mark: feedback[at] }));
  for (const { at, letter, mark } of marked) {
    if (mark === "G") greens.set(at, letter);
    if (mark === "Y") yellows.add(letter);
  }
  const found = new Set([...greens.values(), ...yellows]);
  for (const { letter, mark } of marked) if (mark === "_" && !found.has(letter)) eliminated.add(letter);
}

function reply(game: Game, given: Partial<GuessReply>): GuessReply {
  const isOver = game.state !== "open";
  return {
    ...{ valid: false, feedback: null, won: game.state === "won", game_over: isOver, turn: game.turn },
    ...{ turns_remaining: game.maxTurns - game.turn, error: null },
    target_word: isOver ? game.target.toUpperCase() : null,
    ...given,
  };
}
