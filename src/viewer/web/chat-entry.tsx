import { memo, useState } from "react";
import { type ChatEntry, prettyJson } from "../chat-model.ts";
import type { ContentPart } from "../content-parts.ts";
import { CopyButton } from "./copy-button.tsx";
import { LongText } from "./long-text.tsx";
import { TokenList } from "./token-list.tsx";

const MAX_PREVIEW = 100;

/** One entry of the conversation. What is closed is not made. */
export const Entry = memo(function Entry({ entry, open = true }: { entry: ChatEntry; open?: boolean }) {
  const [isOpen, setOpen] = useState(open);
  const [place, what] = splitTitle(entry.title);
  return (
    <details
      className={`entry ${entry.kind}`}
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span className="title">
          {place && <span className="turn">{place}</span>}
          <span className="what">{what}</span>
        </span>
        {!isOpen && entry.from === "row" && <span className="preview">{previewOf(entry.source)}</span>}
        <CopyButton text={() => prettyJson(entry.source)} label={`Copy ${what} as JSON`} />
      </summary>
      {isOpen && (
        <div className="body">
          {entry.parts.map((part, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an item never change
            <Part key={number} part={part} />
          ))}
          {entry.parts.length === 0 && <p className="note">(empty)</p>}
          {entry.tokens && <TokenList tokens={entry.tokens} />}
        </div>
      )}
    </details>
  );
});

function Part({ part }: { part: ContentPart }) {
  switch (part.type) {
    case "text":
      return part.text === "" ? <p className="note">(empty text)</p> : <LongText text={part.text} />;
    case "json":
      return <LongText text={part.text} code />;
    case "refusal":
      return (
        <div className="refusal">
          <p className="note">Refusal</p>
          <LongText text={part.text} />
        </div>
      );
    case "image":
      return <img src={part.url} alt="Part of the message" loading="lazy" />;
    case "link":
      return (
        <a href={part.url} target="_blank" rel="noreferrer noopener">
          {part.label}
        </a>
      );
    case "note":
      return <p className="note">{part.text}</p>;
  }
}

/** `Turn 1 Step 0 - User message` as place and name; both stay in the page as one text. */
function splitTitle(title: string): [string | undefined, string] {
  const match = /^(Turn \d+ Step \d+ - )(.*)$/s.exec(title);
  return match ? [match[1], match[2] ?? ""] : [undefined, title];
}

function previewOf(value: unknown): string {
  if (typeof value === "string") return oneLine(value.slice(0, MAX_PREVIEW * 2));
  if (Array.isArray(value)) return `[${value.length}]`;
  if (value !== null && typeof value === "object" && Object.keys(value).length > 8)
    return `{${Object.keys(value).length}}`;
  const text = prettyJson(value);
  return text.length > 2000 ? "{…}" : oneLine(text);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_PREVIEW ? `${line.slice(0, MAX_PREVIEW)}…` : line;
}
