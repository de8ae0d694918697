import { defineGymnasiumServer, HttpError } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { type CardSource, deal, type Game, hit, observe, randomCard, readAction, stand } from "./game.ts";

/** Blackjack against a dealer who stands on 17. `draw` supplies the cards. */
export function defineBlackjack(draw: CardSource) {
  return defineGymnasiumServer({
    reset() {
      const game = deal(draw);
      return { session: game, observation: observe(game) };
    },
    unseeded: (): Game => ({ player: [], dealer: [] }),
    step({ response, session }) {
      if (readAction(outputText(response)) === "stand") return stand(session, draw);
      if (session.dealer.length === 0) {
        // upstream: the card is drawn before the missing game is noticed. With scripted cards this is visible.
        draw();
        throw new HttpError(409, "There is no game in this session: call /reset first.");
      }
      return hit(session, draw);
    },
  });
}

export default defineBlackjack(randomCard);
