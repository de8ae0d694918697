import { useState } from "react";
import type { ItemTokens } from "../../conversation/item-tokens.ts";
import { countText } from "../shared/format.ts";
import { Plain } from "../text/plain.tsx";

const PAGE = 2000;

/** Where a prompt departs from the tokens of the call before; undefined when it continues them. */
export function driftAt(prompt: readonly number[], before: ItemTokens | undefined): number | undefined {
  if (before?.prompt === undefined || before.generation === undefined) return undefined;
  const earlier = [...before.prompt, ...before.generation];
  for (let place = 0; place < earlier.length; place++) if (prompt[place] !== earlier[place]) return place;
  return undefined;
}

/** Token ids and log-probabilities of a model call: what was context, what was sampled, what is trained on. */
export function TokenLens({
  tokens,
  masked,
  previous,
}: {
  tokens: ItemTokens;
  masked: boolean;
  previous: ItemTokens | undefined;
}) {
  const [open, setOpen] = useState(false);
  const drift = tokens.prompt ? driftAt(tokens.prompt, previous) : undefined;
  const counts = [
    tokens.prompt && countText(tokens.prompt.length, "context token"),
    tokens.generation && countText(tokens.generation.length, "sampled token"),
    tokens.logProbs && `mean log-probability ${meanOf(tokens.logProbs).toFixed(3)}`,
    tokens.texts &&
      countText(tokens.texts.length, "token with log-probability", "tokens with log-probabilities"),
    masked && "masked: not trained on",
    drift !== undefined && `drift at token ${drift}`,
  ].filter((text) => typeof text === "string");
  return (
    <details className="tokens" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={drift === undefined ? "" : "drifts"}>{counts.join(" · ")}</summary>
      {open && (
        <>
          {tokens.texts && (
            <p className="token-texts">
              {tokens.texts.slice(0, PAGE).map(({ token, logprob }, place) => (
                <span
                  // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
                  key={place}
                  className={`token heat-${heat(logprob)}`}
                  title={`log-probability ${logprob}`}
                >
                  <Plain text={token} />
                </span>
              ))}
            </p>
          )}
          {tokens.generation && (
            <Ids
              title="Sampled"
              className={masked ? "sampled masked" : "sampled"}
              ids={tokens.generation}
              logProbs={tokens.logProbs}
              mark={undefined}
            />
          )}
          {tokens.prompt && (
            <Ids title="Context" className="context" ids={tokens.prompt} logProbs={undefined} mark={drift} />
          )}
          <p className="dim">
            Sampled tokens are {masked ? "not trained on: the rollout is masked" : "trained on"}; context
            tokens never are. The darker a token, the less likely it was.
          </p>
        </>
      )}
    </details>
  );
}

function Ids(props: {
  title: string;
  className: string;
  ids: readonly number[];
  logProbs: readonly number[] | undefined;
  mark: number | undefined;
}) {
  const { title, className, ids, logProbs, mark } = props;
  const [shown, setShown] = useState(PAGE);
  return (
    <p className={`token-ids ${className}`}>
      <b>{title}</b>{" "}
      {ids.slice(0, shown).map((id, place) => {
        const logProb = logProbs?.[place];
        const drifted = mark === place ? " drift" : "";
        return (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
            key={place}
            className={`token${logProb === undefined ? "" : ` heat-${heat(logProb)}`}${drifted}`}
            title={`token ${place}${logProb === undefined ? "" : `, log-probability ${logProb}`}${drifted && ": departs from the call before"}`}
          >
            {id}{" "}
          </span>
        );
      })}
      {ids.length > shown && (
        <button type="button" className="quiet fold" onClick={() => setShown(shown + PAGE * 5)}>
          {countText(ids.length - shown, "more", "more")}
        </button>
      )}
    </p>
  );
}

/** 0 for what was sure to come, 5 for what was most unlikely. */
function heat(logProb: number): number {
  return Math.min(5, Math.floor(-logProb * 1.5 + 0.85));
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
