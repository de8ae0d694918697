import { useState } from "react";
import type { ItemTokens } from "../item-tokens.ts";
import { countText } from "./format.ts";

const MAX_SHOWN = 2000;

/** Token ids and log-probabilities of an item; closed until somebody wants them. */
export function TokenList({ tokens }: { tokens: ItemTokens }) {
  const [open, setOpen] = useState(false);
  const counts = [
    tokens.prompt && countText(tokens.prompt.length, "prompt token"),
    tokens.generation && countText(tokens.generation.length, "generated token"),
    tokens.logProbs && "log-probabilities",
    tokens.texts &&
      countText(tokens.texts.length, "token with log-probability", "tokens with log-probabilities"),
  ].filter((text) => text !== undefined);
  return (
    <details className="tokens" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{counts.join(", ")}</summary>
      {open && (
        <>
          {tokens.generation && (
            <Tokens title="Generated" ids={tokens.generation} logProbs={tokens.logProbs} />
          )}
          {tokens.texts && (
            <p className="token-texts">
              {tokens.texts.slice(0, MAX_SHOWN).map(({ token, logprob }, place) => (
                <span
                  // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
                  key={place}
                  className={`token ${surprise(logprob)}`}
                  title={`${token}\nlog-probability ${logprob}`}
                >
                  {token}
                </span>
              ))}
            </p>
          )}
          {tokens.prompt && <Tokens title="Prompt" ids={tokens.prompt} logProbs={undefined} />}
        </>
      )}
    </details>
  );
}

function Tokens(props: { title: string; ids: readonly number[]; logProbs: readonly number[] | undefined }) {
  const { title, ids, logProbs } = props;
  return (
    <p className="token-ids">
      <b>{title}</b>{" "}
      {ids.slice(0, MAX_SHOWN).map((id, place) => {
        const logProb = logProbs?.[place];
        return (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
            key={place}
            className={`token ${logProb === undefined ? "" : surprise(logProb)}`}
            title={logProb === undefined ? `token ${place}` : `token ${place}, log-probability ${logProb}`}
          >
            {id}{" "}
          </span>
        );
      })}
      {ids.length > MAX_SHOWN && `… ${countText(ids.length - MAX_SHOWN, "more", "more")}`}
    </p>
  );
}

/** How unexpected a token was. */
function surprise(logProb: number): string {
  return logProb > -0.1 ? "" : logProb > -1 ? "unsure" : "surprising";
}
