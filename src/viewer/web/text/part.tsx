import { createContext, useContext } from "react";
import type { ContentPart } from "../../conversation/content-parts.ts";
import { JsonTree } from "./json-tree.tsx";
import { LongText } from "./long-text.tsx";
import { Markdown } from "./markdown.tsx";
import { Picture } from "./picture.tsx";
import { Output, Plain } from "./plain.tsx";

/** Whether texts are shown as Markdown. */
export const AsMarkdown = createContext(true);

/** A piece of an item, as its kind asks for. */
export function Part({ part }: { part: ContentPart }) {
  const asMarkdown = useContext(AsMarkdown);
  switch (part.type) {
    case "text":
      if (part.text === "") return <p className="note">(empty text)</p>;
      return (
        <LongText
          text={part.text}
          render={(text) => (asMarkdown ? <Markdown text={text} /> : <PlainText text={text} isCode />)}
        />
      );
    case "thought":
      return (
        <details className="thought" open>
          <summary>Thoughts</summary>
          <LongText text={part.text} render={(text) => <PlainText text={text} />} />
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
          <LongText text={part.text} render={(text) => <PlainText text={text} />} />
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

export function PlainText({ text, isCode = false }: { text: string; isCode?: boolean }) {
  return (
    <pre className={isCode ? "text code" : "text"}>
      <Plain text={text} />
    </pre>
  );
}
