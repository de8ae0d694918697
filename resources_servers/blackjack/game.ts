import { SPACE_CLASS } from "nemo-gym/python";

const RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"] as const;
export type Rank = (typeof RANKS)[number];

/** A source of cards; they are drawn with replacement. */
export type CardSource = () => Rank;

export const randomCard: CardSource = () => RANKS[Math.floor(Math.random() * RANKS.length)] ?? "A";

export interface Game {
  player: Rank[];
  dealer: Rank[];
}

const DEALER_STANDS_ON = 17;
const BUST_ABOVE = 21;

/** The best value of a hand: aces count 11 unless that busts the hand. */
export function handValue(hand: readonly Rank[]): number {
  let value = 0;
  let aces = 0;
  for (const rank of hand) {
    if (rank === "A") {
      aces++;
      value += 11;
    } else value += "JQK".includes(rank) ? 10 : Number(rank);
  }
  for (; aces > 0 && value > BUST_ABOVE; aces--) value -= 10;
  return value;
}

const showHand = (hand: readonly Rank[]): string => `[${hand.join(", ")}]`;

export function deal(draw: CardSource): Game {
  const player = [draw(), draw()];
  return { player, dealer: [draw(), draw()] };
}

/** What the player sees. */
export function observe({ player, dealer }: Game): string {
  return [
    `Your hand: ${showHand(player)} = ${handValue(player)}`,
    `Dealer shows: ${dealer[0]}`,
    "Respond with <action>hit</action> or <action>stand</action>.",
  ].join("\n");
}

const ACTION = new RegExp(`<action>[${SPACE_CLASS}]*(hit|stand)[${SPACE_CLASS}]*</action>`, "i");

/** The action in the model's text; anything else is a stand. */
export function readAction(text: string): "hit" | "stand" {
  return ACTION.exec(text)?.[1]?.toLowerCase() === "hit" ? "hit" : "stand";
}

export interface TurnResult {
  observation?: string;
  reward: number;
  terminated: boolean;
  info: Record<string, unknown>;
}

export function hit(game: Game, draw: CardSource): TurnResult {
  game.player.push(draw());
  const value = handValue(game.player);
  if (value <= BUST_ABOVE) return { observation: observe(game), reward: 0, terminated: false, info: {} };
  return { reward: -1, terminated: true, info: { result: "bust", player: showHand(game.player), value } };
}

export function stand({ player, dealer }: Game, draw: CardSource): TurnResult {
  while (handValue(dealer) < DEALER_STANDS_ON) dealer.push(draw());
  const playerValue = handValue(player);
  const dealerValue = handValue(dealer);
  const result =
    dealerValue > BUST_ABOVE || playerValue > dealerValue
      ? "win"
      : playerValue === dealerValue
        ? "draw"
        : "loss";
  return {
    reward: result === "win" ? 1 : result === "draw" ? 0 : -1,
    terminated: true,
    info: {
      result,
      player: showHand(player),
      player_value: playerValue,
      dealer: showHand(dealer),
      dealer_value: dealerValue,
    },
  };
}
