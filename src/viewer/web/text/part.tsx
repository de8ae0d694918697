import { createContext, useContext } from "react";
import type { ContentPart } from "../../conversation/content-parts.ts";
import { JsonTree } from "./json-tree.tsx";
import { LongText } from "./long-text.tsx";
import { Markdown } from "./markdown.tsx";
import { Picture } from "./picture.tsx";
import { Output, Plain } from "./plain.tsx";

/** Whether texts are shown as Markdown. */
export const AsMarkdown = createContext(true);

/** A part of an item, rendered by its type. */
export function Part({ part }: { part: ContentPart }) {
  const asMarkdown = useContext(AsMarkdown);
  const render = (text: string) => (asMarkdown ? <Markdown text={text} /> : <PlainText text={text} />);
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
      return (
        <LongText
          text={part.text}
          render={(text) => (
            <pre className="text code">
              <Output text={text} />
            </pre>
          )}
        />
      );
    case "json":
      return (
        <div className="json">
          <JsonTree value={part.value} open />
        </div>
      );
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
          <bdi>
            <Plain text={part.label} />
          </bdi>
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

export function PlainText({ text }: { text: string }) {
  return (
    <pre className="text code">
      <Plain text={text} />
    </pre>
  );
}
