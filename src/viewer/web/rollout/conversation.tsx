import { memo, useMemo, useState } from "react";
import { prettyJson } from "../../conversation/content-parts.ts";
import type { ConversationItem } from "../../conversation/conversation.ts";
import { isOneLine, previewOf } from "../../conversation/preview.ts";
import type { CallUsage } from "../../conversation/timeline.ts";
import type { TokenBoundary } from "../../conversation/tokens.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import { dollarText, secondsText, shortCount } from "../shared/format.ts";
import { moveInToolbar } from "../shared/keyboard.ts";
import type { View } from "../shared/route.ts";
import { addressOf } from "../shared/use-route.ts";
import { visibleText } from "../text/controls.ts";
import { useHoldsMatch } from "../text/holds-match.ts";
import { Part } from "../text/part.tsx";
import { Isolated } from "../text/plain.tsx";
import { CutTexts, type CutValues } from "./cut-values.tsx";
import { selectedChars } from "./text-range.ts";
import { boundaryText, TokenLens } from "./token-lens.tsx";

interface Props {
  items: readonly ConversationItem[];
  hidden: ReadonlySet<string>;
  /** Id of the element in the address. */
  selected: string | undefined;
  usageOf: (turn: number) => CallUsage | undefined;
  masked: boolean;
  boundaries: ReadonlyMap<number, TokenBoundary>;
  /** Loads truncated token lists of an item; undefined when all are complete. */
  loadTokens: (item: ConversationItem) => (() => void) | undefined;
  cut: CutValues;
  /** Whether items are initially open. */
  open: boolean;
}

/** The items of the conversation; every model turn begins with its usage. */
export function Conversation(props: Props) {
  const { items, hidden, selected, usageOf, masked, boundaries, loadTokens, cut, open } = props;
  const answer = items.findLast(({ kind, from }) => kind === "assistant" && from === "output");
  let turn = 0;
  return (
    <section id="conversation" className="turns" aria-label="Conversation" tabIndex={-1}>
      {items.map((item) => {
        const begins = item.turn !== turn && item.from === "output";
        if (begins) turn = item.turn;
        const isSelected = selected === `item-${item.place}`;
        return (
          <div key={item.place}>
            {begins && (
              <TurnHead
                turn={item.turn}
                isSelected={selected === `turn-${item.turn}`}
                usage={usageOf(item.turn)}
                boundary={items
                  .filter((each) => each.turn === item.turn)
                  .map(({ place }) => boundaries.get(place))
                  .find((each) => each !== undefined)}
              />
            )}
            {!hidden.has(item.kind) && (
              <Item
                item={item}
                isSelected={isSelected}
                isAnswer={item === answer}
                masked={masked}
                boundary={boundaries.get(item.place)}
                onLoadTokens={loadTokens(item)}
                cut={cut}
                open={isSelected || (open && !isOneLine(item))}
              />
            )}
          </div>
        );
      })}
      {items.length === 0 && <p className="note">This row has no conversation.</p>}
    </section>
  );
}

function TurnHead({
  turn,
  isSelected,
  usage,
  boundary,
}: {
  turn: number;
  isSelected: boolean;
  usage: CallUsage | undefined;
  boundary: TokenBoundary | undefined;
}) {
  return (
    <h2 id={`turn-${turn}`} className={`turn-head${isSelected ? " selected" : ""}`}>
      <a href={addressOf({ parameters: { turn: String(turn) } })} title="Link to this turn">
        Turn {turn}
      </a>
      {boundary && boundary.kind !== "first" && (
        <span className={`boundary ${boundary.kind}`} title={boundaryText(boundary)}>
          {boundary.kind}
        </span>
      )}
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

/** One item. Closed content is not rendered. */
export const Item = memo(function Item({
  item,
  isSelected = false,
  isAnswer = false,
  masked = false,
  boundary,
  onLoadTokens,
  cut,
  open = true,
  diverges = false,
  pane,
}: {
  item: ConversationItem;
  isSelected?: boolean;
  /** Whether it is the last message of the model. */
  isAnswer?: boolean;
  masked?: boolean;
  boundary?: TokenBoundary;
  onLoadTokens?: () => void;
  /** The truncated values of the row. */
  cut?: CutValues;
  open?: boolean;
  /** Whether it is the first item that differs from the other repeats. */
  diverges?: boolean;
  /** The rollout of the item, if the page shows several. */
  pane?: { run?: string | undefined; view: View; number: number } | undefined;
}) {
  const [isOpen, setOpen] = useState(open);
  const closed = useMemo(() => (isOpen ? undefined : [item.source, item.output?.source]), [isOpen, item]);
  const holdsMatch = useHoldsMatch(closed);
  const title = visibleText(item.title.slice(0, 80));
  const id = `${pane ? `pane-${pane.number}-` : ""}item-${item.place}`;
  const linkTo = (chars?: string) =>
    addressOf({ run: pane?.run, view: pane?.view, parameters: { item: String(item.place), chars } });
  return (
    <section
      id={id}
      className={`item ${item.kind}${isAnswer ? " answer" : ""}${isSelected ? " selected" : ""}${diverges ? " diverges" : ""}`}
    >
      <div className="item-head" role="toolbar" aria-label={title} onKeyDown={moveInToolbar}>
        <button
          type="button"
          className="item-toggle"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          {...holdsMatch}
        >
          <span className="mark" aria-hidden="true">
            {isOpen ? "▾" : "▸"}
          </span>{" "}
          <Isolated text={item.title} />
          {isOpen ? (
            item.kind === "call" && <span className="dim"> tool call</span>
          ) : (
            <span className="preview">{visibleText(previewOf(item))}</span>
          )}
        </button>
        <span className="spacer" />
        {item.callId && (
          <Isolated
            className="call-id dim"
            title={visibleText(item.callId)}
            text={item.callId.slice(0, 24)}
          />
        )}
        <a
          className="quiet-link"
          tabIndex={-1}
          href={linkTo()}
          title="Link to this item or to the text selected in it"
          aria-label={`Link to item ${item.place}`}
          // The click must keep the selection.
          onMouseDown={(event) => event.preventDefault()}
          onClick={(event) => {
            const text = document.querySelector(`#${id} .item-body`);
            const chars = text && selectedChars(text);
            if (!chars) return;
            event.preventDefault();
            window.location.hash = linkTo(chars);
          }}
        >
          #
        </a>
        <CopyButton text={() => prettyJson(item.source)} label={`Copy ${title} as JSON`} tabIndex={-1} />
      </div>
      {isOpen && (
        <div className="item-body">
          {item.parts.map((part, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an item never change
            <Part key={number} part={part} />
          ))}
          {item.parts.length === 0 && <p className="note">(empty)</p>}
          {cut && <CutTexts path={item.path} cut={cut} />}
          {item.tokens && (
            <TokenLens tokens={item.tokens} masked={masked} boundary={boundary} onLoad={onLoadTokens} />
          )}
        </div>
      )}
      {isOpen && item.output && (
        <div className="item-output" id={pane ? undefined : `item-${item.output.place}`}>
          <p className="output-title dim">output</p>
          {item.output.parts.map((part, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same
            <Part key={number} part={part} />
          ))}
          {cut && <CutTexts path={item.output.path} cut={cut} />}
        </div>
      )}
      {isOpen && item.kind === "call" && !item.output && item.title !== "Output without a call" && (
        <p className="note">(no output)</p>
      )}
    </section>
  );
});
