import { memo, useState } from "react";
import type { JsonObject } from "../../../python/json/json-object.ts";
import { type ConversationItem, prettyJson } from "../../conversation/conversation.ts";
import type { CallUsage } from "../../conversation/timeline.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import { dollarText, secondsText, shortCount } from "../shared/format.ts";
import { addressOf } from "../shared/use-route.ts";
import { Part } from "../text/part.tsx";
import { Plain } from "../text/plain.tsx";
import { selectedChars } from "./text-range.ts";
import { TokenLens } from "./token-lens.tsx";

interface Props {
  items: readonly ConversationItem[];
  hidden: ReadonlySet<string>;
  selected: number | undefined;
  calls: readonly CallUsage[];
  row: JsonObject;
  /** Whether items begin open. */
  open: boolean;
}

/** What was said and done; every turn of the model begins with what it used. */
export function Conversation({ items, hidden, selected, calls, row, open }: Props) {
  const masked = Boolean(row["mask_sample"]);
  let turn = 0;
  return (
    <section className="turns" aria-label="Conversation">
      {items.map((item) => {
        const begins = item.turn !== turn && item.from === "output";
        if (begins) turn = item.turn;
        return (
          <div key={item.place}>
            {begins && <TurnHead turn={item.turn} usage={calls[item.turn - 1]} />}
            {!hidden.has(item.kind) && (
              <Item
                item={item}
                isSelected={selected === item.place}
                masked={masked}
                previous={previousTokens(items, item)}
                open={open || selected === item.place}
              />
            )}
          </div>
        );
      })}
      {items.length === 0 && <p className="note">There is no conversation in this row.</p>}
    </section>
  );
}

function TurnHead({ turn, usage }: { turn: number; usage: CallUsage | undefined }) {
  return (
    <h2 className="turn-head">
      Turn {turn}
      {usage && (
        <span className="dim">
          {[
            usage.inputTokens === null ? "" : `${shortCount(usage.inputTokens)} in`,
            usage.outputTokens === null ? "" : `${shortCount(usage.outputTokens)} out`,
            usage.cachedTokens ? `${shortCount(usage.cachedTokens)} cached` : "",
            usage.seconds === null ? "" : secondsText(usage.seconds),
            usage.cost === null ? "" : dollarText(usage.cost),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      )}
    </h2>
  );
}

/** The tokens of the model call before: a prompt that does not begin with them has drifted. */
function previousTokens(items: readonly ConversationItem[], item: ConversationItem) {
  if (!item.tokens?.prompt) return undefined;
  return items.findLast(({ place, tokens }) => place < item.place && tokens?.generation !== undefined)
    ?.tokens;
}

/** One item. What is closed is not made. */
export const Item = memo(function Item({
  item,
  isSelected,
  masked,
  previous,
  open = true,
}: {
  item: ConversationItem;
  isSelected: boolean;
  masked: boolean;
  previous: ConversationItem["tokens"];
  open?: boolean;
}) {
  const [isOpen, setOpen] = useState(open);
  return (
    <section id={`item-${item.place}`} className={`item ${item.kind}${isSelected ? " selected" : ""}`}>
      <div className="item-head">
        <button type="button" className="item-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span className="mark" aria-hidden="true">
            {isOpen ? "▾" : "▸"}
          </span>{" "}
          <bdi>
            <Plain text={item.title} />
          </bdi>
          {item.kind === "call" && <span className="dim"> tool call</span>}
        </button>
        <span className="spacer" />
        {item.callId && (
          <span className="call-id dim" title={item.callId}>
            {item.callId.slice(0, 24)}
          </span>
        )}
        <a
          className="quiet-link"
          href={addressOf({ parameters: { item: String(item.place) } })}
          title="Link to this item, or to the text that is selected in it"
          aria-label={`Link to item ${item.place}`}
          // The click must not take the selection away.
          onMouseDown={(event) => event.preventDefault()}
          onClick={(event) => {
            const text = document.querySelector(`#item-${item.place} .item-body`);
            const chars = text && selectedChars(text);
            if (!chars) return;
            event.preventDefault();
            window.location.hash = addressOf({ parameters: { item: String(item.place), chars } });
          }}
        >
          #
        </a>
        <CopyButton text={() => prettyJson(item.source)} label={`Copy ${item.title.slice(0, 50)} as JSON`} />
      </div>
      {isOpen && (
        <div className="item-body">
          {item.parts.map((part, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an item never change
            <Part key={number} part={part} />
          ))}
          {item.parts.length === 0 && <p className="note">(empty)</p>}
          {item.tokens && <TokenLens tokens={item.tokens} masked={masked} previous={previous} />}
        </div>
      )}
      {isOpen && item.output && (
        <div className="item-output" id={`item-${item.output.place}`}>
          <p className="output-title dim">output</p>
          {item.output.parts.map((part, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same
            <Part key={number} part={part} />
          ))}
        </div>
      )}
      {isOpen && item.kind === "call" && !item.output && item.title !== "Output without a call" && (
        <p className="note">(no output)</p>
      )}
    </section>
  );
});
