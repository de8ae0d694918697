import { type RefObject, useEffect, useRef, useState } from "react";
import type { ConversationItem } from "../../conversation/conversation.ts";
import { previewOf } from "../../conversation/preview.ts";
import type { CallUsage } from "../../conversation/timeline.ts";
import { secondsText, shortCount } from "../shared/format.ts";
import { addressOf } from "../shared/use-route.ts";
import { visibleText } from "../text/controls.ts";

interface Props {
  items: readonly ConversationItem[];
  hidden: ReadonlySet<string>;
  usageOf: (turn: number) => CallUsage | undefined;
  article: RefObject<HTMLElement | null>;
}

/** The table of contents of a conversation: a line for each item, by turns. It follows the reader. */
export function Outline({ items, hidden, usageOf, article }: Props) {
  const current = useItemInView(article, items);
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    if (current !== undefined)
      list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [current]);
  let turn = 0;
  return (
    <nav ref={list} className="outline" aria-label="Outline">
      {items.map((item) => {
        const begins = item.turn !== turn && item.from === "output";
        if (begins) turn = item.turn;
        return (
          <div key={item.place}>
            {begins && <TurnLine turn={item.turn} usage={usageOf(item.turn)} />}
            {!hidden.has(item.kind) && (
              <a
                className={`outline-item ${item.kind}`}
                href={addressOf({ parameters: { item: String(item.place) } })}
                aria-current={item.place === current ? "true" : undefined}
              >
                <b>{visibleText(item.title.slice(0, 80))}</b> {visibleText(previewOf(item))}
              </a>
            )}
          </div>
        );
      })}
    </nav>
  );
}

function TurnLine({ turn, usage }: { turn: number; usage: CallUsage | undefined }) {
  const facts = [
    usage?.outputTokens == null ? "" : `${shortCount(usage.outputTokens)} out`,
    usage?.seconds == null ? "" : secondsText(usage.seconds),
  ];
  return (
    <a className="outline-turn" href={addressOf({ parameters: { turn: String(turn) } })}>
      Turn {turn} <span className="dim">{facts.filter(Boolean).join(" · ")}</span>
    </a>
  );
}

/** The item at the top of the pane. */
function useItemInView(
  article: RefObject<HTMLElement | null>,
  items: readonly ConversationItem[],
): number | undefined {
  const [place, setPlace] = useState<number>();
  useEffect(() => {
    const pane = article.current?.parentElement;
    if (!pane) return;
    let frame = 0;
    const find = () => {
      frame = 0;
      const line = pane.getBoundingClientRect().top + 90;
      const elements = [...pane.querySelectorAll<HTMLElement>(".turns .item")];
      // The items lie below each other.
      let [low, high] = [0, elements.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((elements[middle]?.getBoundingClientRect().top ?? 0) <= line) low = middle + 1;
        else high = middle;
      }
      const id = elements[Math.max(0, low - 1)]?.id.slice("item-".length);
      setPlace(id === undefined ? undefined : Number(id));
    };
    const onScroll = () => {
      if (frame === 0) frame = requestAnimationFrame(find);
    };
    // Elements of another row replace those of this one.
    if (items.length > 0) find();
    pane.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      pane.removeEventListener("scroll", onScroll);
      cancelAnimationFrame(frame);
    };
  }, [article, items]);
  return place;
}
