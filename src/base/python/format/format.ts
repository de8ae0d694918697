import { isPyFloat, isPyInt, PyFloat } from "../numbers/py-float.ts";
import { pyAscii, pyRepr, pyStr, pyTypeName } from "../repr.ts";
import { formatValue, TemplateError } from "./format-value.ts";

/** A format specification may contain fields (`{x:{width}}`), but those fields may not. */
const MAX_NESTING = 2;

/** A template names a field that the data does not have. */
export class TemplateFieldError extends TemplateError {
  readonly field: string;

  constructor(field: string, available: string[]) {
    super(
      `The template needs the field '${field}'; the row has: ${available.length > 0 ? available.join(", ") : "no fields"}.`,
      {
        code: "TEMPLATE_FIELD_MISSING",
      },
    );
    this.field = field;
  }
}

type Part = string | Field;

interface Field {
  /** The name up to the first `.` or `[`. */
  name: string;
  path: Step[];
  conversion: string;
  spec: Part[];
}

type Step = { attribute: string } | { key: string } | { index: number };

/** A parsed template. `render` may be called any number of times. */
export interface Template {
  /** The top-level fields that the template reads, in order of first use. */
  fields: string[];
  render(data: Record<string, unknown>): string;
}

/**
 * Fills a Python brace template with the members of `data`.
 *
 * @example
 * formatTemplate("{name}: {score:.2f} {tags[0]!r}", { name: "a", score: 0.5, tags: ["x"] }); // "a: 0.50 'x'"
 */
export function formatTemplate(template: string, data: Record<string, unknown>): string {
  return parseTemplate(template).render(data);
}

/** Parses a Python brace template, to render it for many rows. */
export function parseTemplate(template: string): Template {
  const parts = parseParts(template, MAX_NESTING);
  return { fields: [...new Set(fieldNames(parts))], render: (data) => renderParts(parts, data) };
}

function fieldNames(parts: Part[]): string[] {
  return parts.flatMap((part) => (typeof part === "string" ? [] : [part.name, ...fieldNames(part.spec)]));
}

function parseParts(text: string, nesting: number): Part[] {
  if (nesting < 1) throw new TemplateError("Max string recursion exceeded");
  const parts: Part[] = [];
  let literal = "";
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? "";
    if (character !== "{" && character !== "}") {
      literal += character;
    } else if (text[index + 1] === character) {
      literal += character;
      index++;
    } else if (character === "}" || index + 1 === text.length) {
      throw new TemplateError(`Single '${character}' encountered in format string`);
    } else {
      if (literal !== "") parts.push(literal);
      literal = "";
      const { field, end } = parseField(text, index + 1, nesting);
      parts.push(field);
      index = end;
    }
  }
  if (literal !== "") parts.push(literal);
  return parts;
}

/** Reads the field whose text starts at `start`, after the opening brace. `end` is the index of the closing brace. */
function parseField(text: string, start: number, nesting: number): { field: Field; end: number } {
  let position = nameEnd(text, start);
  const name = text.slice(start, position);
  let conversion = "";
  if (text[position] === "!") {
    conversion = text[position + 1] ?? "";
    if (conversion === "") throw new TemplateError("end of string while looking for conversion specifier");
    position += 2;
    if (text[position] === undefined) throw new TemplateError("unmatched '{' in format spec");
    if (text[position] !== ":" && text[position] !== "}") {
      throw new TemplateError("expected ':' after conversion specifier");
    }
  }
  if (text[position] === undefined) throw new TemplateError("expected '}' before end of string");
  if (text[position] === "}") return { field: { ...parseName(name), conversion, spec: [] }, end: position };
  const end = specEnd(text, position + 1);
  const specText = text.slice(position + 1, end);
  // Only a specification that contains a field is a template. Braces cannot be escaped in other specifications.
  const spec = specText.includes("{") ? parseParts(specText, nesting - 1) : specText === "" ? [] : [specText];
  return { field: { ...parseName(name), conversion, spec }, end };
}

function nameEnd(text: string, start: number): number {
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === "{") throw new TemplateError("unexpected '{' in field name");
    if (character === "}" || character === ":" || character === "!") return index;
    // Inside brackets, everything up to the closing bracket is part of the key.
    if (character === "[") {
      const close = text.indexOf("]", index);
      index = close === -1 ? text.length : close;
    }
  }
  return text.length;
}

function specEnd(text: string, start: number): number {
  let open = 1;
  for (let index = start; index < text.length; index++) {
    if (text[index] === "{") open++;
    else if (text[index] === "}" && --open === 0) return index;
  }
  throw new TemplateError("unmatched '{' in format spec");
}

function parseName(text: string): { name: string; path: Step[] } {
  const first = text.search(/[.[]/);
  const name = first === -1 ? text : text.slice(0, first);
  if (/^\d*$/.test(name)) {
    throw new TemplateError(`Positional field '{${name}}' is not available; name a field of the row instead`);
  }
  const path: Step[] = [];
  for (let index = name.length; index < text.length; ) {
    let end: number;
    if (text[index] === "[") {
      end = text.indexOf("]", index);
      if (end === -1) throw new TemplateError("Missing ']' in format string");
      path.push(subscript(text.slice(index + 1, end)));
      end++;
    } else if (text[index] === ".") {
      const rest = text.slice(index + 1).search(/[.[]/);
      end = rest === -1 ? text.length : index + 1 + rest;
      path.push({ attribute: notEmpty(text.slice(index + 1, end)) });
    } else throw new TemplateError("Only '.' or '[' may follow ']' in format field specifier");
    index = end;
  }
  return { name, path };
}

function subscript(text: string): Step {
  return /^\d+$/.test(text) ? { index: Number(text) } : { key: notEmpty(text) };
}

function notEmpty(text: string): string {
  if (text === "") throw new TemplateError("Empty attribute in format string");
  return text;
}

function renderParts(parts: Part[], data: Record<string, unknown>): string {
  let text = "";
  for (const part of parts) text += typeof part === "string" ? part : renderField(part, data);
  return text;
}

function renderField(field: Field, data: Record<string, unknown>): string {
  if (!Object.hasOwn(data, field.name)) throw new TemplateFieldError(field.name, Object.keys(data));
  let value = data[field.name];
  for (const step of field.path) value = follow(value, step);
  return formatValue(converted(value, field.conversion), renderParts(field.spec, data));
}

function converted(value: unknown, conversion: string): unknown {
  switch (conversion) {
    case "":
      return value;
    case "r":
      return pyRepr(value);
    case "s":
      return pyStr(value);
    case "a":
      return pyAscii(value);
    default:
      throw new TemplateError(`Unknown conversion specifier '${conversion}'`);
  }
}

function follow(value: unknown, step: Step): unknown {
  if ("attribute" in step) return attribute(value, step.attribute);
  if (Array.isArray(value) || typeof value === "string") return element(value, step);
  if (value === null || typeof value !== "object" || isPyFloat(value)) {
    throw new TemplateError(`'${pyTypeName(value)}' object is not subscriptable`);
  }
  // Python looks for an int key, and JSON objects have only text keys.
  if ("index" in step) throw new TemplateError(`The object has no key ${step.index} (its keys are text)`);
  if (!Object.hasOwn(value, step.key)) {
    throw new TemplateError(`The object has no key '${step.key}'; it has: ${Object.keys(value).join(", ")}`);
  }
  return (value as Record<string, unknown>)[step.key];
}

function element(value: unknown[] | string, step: { key: string } | { index: number }): unknown {
  const typeName = pyTypeName(value);
  if ("key" in step) throw new TemplateError(`${typeName} indices must be integers, not '${step.key}'`);
  const items = typeof value === "string" ? [...value] : value;
  if (step.index >= items.length) throw new TemplateError(`${typeName} index ${step.index} out of range`);
  return items[step.index];
}

/** The attributes of numbers. No other Python type of JSON data has attributes that are values and not methods. */
function attribute(value: unknown, name: string): unknown {
  const number = typeof value === "boolean" ? Number(value) : value;
  if (isPyFloat(number) || isPyInt(number)) {
    if (name === "real") return number;
    if (name === "imag") return isPyFloat(number) ? new PyFloat(0) : 0;
    if (name === "numerator" && isPyInt(number)) return number;
    if (name === "denominator" && isPyInt(number)) return 1;
  }
  throw new TemplateError(`'${pyTypeName(value)}' object has no attribute '${name}'`);
}
