import { createContext, useContext, useState } from "react";
import type { ContentPart } from "../../conversation/content-parts.ts";
import { JsonBlock } from "./json-tree.tsx";
import { LongText } from "./long-text.tsx";
import { Markdown } from "./markdown.tsx";
import { Isolated, OutputBlock, Plain, PlainBlock } from "./plain.tsx";

/** Whether texts are shown as Markdown. */
export const AsMarkdown = createContext(true);

/** A part of an item, rendered by its type. */
export function Part({ part }: { part: ContentPart }) {
  const asMarkdown = useContext(AsMarkdown);
  const render = (text: string) => (asMarkdown ? <Markdown text={text} /> : <PlainBlock text={text} />);
  switch (part.type) {
    case "text":
      if (part.text === "") return <p className="note">(empty text)</p>;
      return <LongText text={part.text} render={render} />;
    case "thought":
      return (
        <details className="thought" open>
          <summary>Thoughts</summary>
          <LongText text={part.text} render={render} />
        </details>
      );
    case "output":
      if (part.text === "") return <p className="note">(no output)</p>;
      return <LongText text={part.text} render={(text) => <OutputBlock text={text} />} />;
    case "json":
      return <JsonBlock value={part.value} />;
    case "refusal":
      return (
        <div className="refusal">
          <p className="note">Refusal</p>
          <LongText text={part.text} render={render} />
        </div>
      );
    case "image":
      return <Picture url={part.url} />;
    case "link":
      return (
        <a href={part.url} target="_blank" rel="noreferrer noopener">
          <Isolated text={part.label} />
        </a>
      );
    case "note":
      return (
        <p className="note">
          <Plain text={part.text} />
        </p>
      );
  }
}

/** An image of the conversation; a click shows it in full size. Its data is in the row, so nothing is loaded. */
function Picture({ url }: { url: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="picture"
        aria-haspopup="dialog"
        aria-label="Enlarge image"
        onClick={() => setOpen(true)}
      >
        <img src={url} alt="Part of the message" loading="lazy" />
      </button>
      {isOpen && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it as well
        <dialog
          ref={(dialog) => {
            if (dialog?.open === false) dialog.showModal();
          }}
          className="zoomed"
          aria-label="Image"
          onClose={() => setOpen(false)}
          onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
        >
          <button type="button" onClick={({ currentTarget }) => currentTarget.closest("dialog")?.close()}>
            Close
          </button>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <div className="zoomed-image" tabIndex={0}>
            <img src={url} alt="Part of the message in its own size" />
          </div>
        </dialog>
      )}
    </>
  );
}
