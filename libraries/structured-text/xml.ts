import { strip } from "nemo-gym/python";
import { setMember } from "nemo-gym/verify";
import { XmlReader } from "./xml-reader.ts";

type Members = Record<string, unknown>;

/**
 * An XML document in the form of Python's `xmltodict.parse`: elements by name, attributes as `@name`, text beside them as `#text`, repeated
 * elements as a list, an empty element as null, text without surrounding white space.
 */
export function parseXml(text: string): Members {
  const document: Frame = { name: "", members: {}, texts: [] };
  const frames = [document];
  new XmlReader(text, {
    open(name, attributes) {
      const frame: Frame = { name, texts: [] };
      for (const [key, value] of attributes) push(frame, `@${key}`, value);
      frames.push(frame);
    },
    text: (piece) => frames.at(-1)?.texts.push(piece),
    close() {
      const frame = frames.pop();
      const parent = frames.at(-1);
      if (frame && parent) push(parent, frame.name, elementValue(frame));
    },
  }).read();
  return document.members ?? {};
}

interface Frame {
  name: string;
  members?: Members;
  texts: string[];
}

function elementValue(frame: Frame): unknown {
  const text = strip(frame.texts.join("")) || null;
  if (frame.members === undefined) return text;
  if (text !== null) push(frame, "#text", text);
  return frame.members;
}

/** Lists created for repeated names; the value of a single element is never a list. */
function push(frame: Frame, key: string, value: unknown): void {
  frame.members ??= {};
  if (!Object.hasOwn(frame.members, key)) setMember(frame.members, key, value);
  else {
    const present = frame.members[key];
    if (Array.isArray(present)) present.push(value);
    else setMember(frame.members, key, [present, value]);
  }
}
