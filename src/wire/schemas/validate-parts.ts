import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { strip } from "../../python/whitespace.ts";
import {
  anything,
  at,
  best,
  byType,
  float,
  int,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Reader,
  record,
  refuse,
  str,
  type Unknowns,
} from "./readers.ts";

const textOrRecord: Reader<unknown> = (value, trail) => (isObject(value) ? value : str(value, trail));
const videoFields = object<{ video_url?: unknown; video?: unknown }>(
  { type: str, video_url: optional(textOrRecord), video: optional(textOrRecord) },
  "drop",
);
const inputVideo: Reader<unknown> = (value, trail) => {
  const part = videoFields(value, trail);
  const source = part?.video_url ?? part?.video;
  const link = isObject(source) ? source["url"] : source;
  const isOne = (part?.video_url === undefined) !== (part?.video === undefined);
  if (isOne && typeof link === "string" && strip(link) !== "") return part;
  const msg = "Value error, give exactly one of video_url and video, not empty";
  return refuse(trail, "value_error", msg, value);
};

const imageDetail = oneOf("low", "high", "auto", "original");
const fileDetail = oneOf("auto", "low", "high");
const cacheBreakpoint = object({ mode: oneOf("explicit") }, "drop");
const maybeCached = { prompt_cache_breakpoint: optional(nullable(cacheBreakpoint)) };

/** Texts, images and files as they are given to a model, by type. */
function inputPartReaders(unknowns: Unknowns): Record<string, Reader<unknown>> {
  const cached = { prompt_cache_breakpoint: optional(object({ mode: oneOf("explicit") }, unknowns)) };
  return {
    input_text: object({ text: str, type: str, ...cached }, unknowns),
    input_image: object(
      {
        detail: imageDetail,
        type: str,
        file_id: optional(nullable(str)),
        image_url: optional(nullable(str)),
        ...cached,
      },
      unknowns,
    ),
    input_file: object(
      {
        type: str,
        detail: optional(fileDetail),
        file_data: optional(str),
        file_id: optional(nullable(str)),
        file_url: optional(str),
        filename: optional(str),
        ...cached,
      },
      unknowns,
    ),
  };
}

const messagePart = byType<unknown>({ ...inputPartReaders("drop"), input_video: inputVideo });

/** The output of a tool may describe images with fewer fields than a message, and has no videos. */
const toolOutputPart = byType<unknown>({
  input_text: object({ text: str, type: str, ...maybeCached }, "drop"),
  input_image: object(
    {
      detail: optional(nullable(imageDetail)),
      type: str,
      file_id: optional(nullable(str)),
      image_url: optional(nullable(str)),
      ...maybeCached,
    },
    "drop",
  ),
  input_file: object(
    {
      type: str,
      detail: optional(fileDetail),
      file_data: optional(nullable(str)),
      file_id: optional(nullable(str)),
      file_url: optional(nullable(str)),
      filename: optional(nullable(str)),
      ...maybeCached,
    },
    "drop",
  ),
});

const textOr = (parts: Reader<unknown>): Reader<unknown> => {
  return (value, trail) => (typeof value === "string" ? value : parts(value, trail));
};

/** A list of input parts. */
export const inputParts = list(messagePart);

/** The content of a message: text or input parts. */
export const messageContent = textOr(inputParts);

/** The output of a tool: text or parts. */
export const toolOutput = textOr(list(toolOutputPart));

const annotation = byType<unknown>({
  file_citation: object({ file_id: str, filename: str, index: int, type: str }, "drop"),
  url_citation: object({ end_index: int, start_index: int, title: str, type: str, url: str }, "drop"),
  container_file_citation: object(
    { container_id: str, end_index: int, file_id: str, filename: str, start_index: int, type: str },
    "drop",
  ),
  file_path: object({ file_id: str, index: int, type: str }, "drop"),
});
const logprob = object(
  { token: str, bytes: list(anything), logprob: float, top_logprobs: list(record) },
  "drop",
);

const outputText = object(
  {
    annotations: list(annotation),
    text: str,
    type: optional(oneOf("output_text")),
    logprobs: optional(nullable(list(logprob))),
  },
  "drop",
);
const refusal = object({ refusal: str, type: optional(oneOf("refusal")) }, "drop");

const outputPartReaders: Reader<unknown>[] = [outputText, refusal];
const IS_TEXT = { only: outputText as Reader<unknown> };

/** The parts of a message of the model. */
export const outputParts = list<unknown>((value, trail) =>
  best(
    value,
    trail,
    outputPartReaders,
    isObject(value) && value["type"] === "output_text" ? IS_TEXT : undefined,
  ),
);

const part = byType(inputPartReaders("forbid"));

const variable: Reader<unknown> = (value, trail) =>
  isObject(value) ? part(value, trail) : str(value, trail);

const variables: Reader<JsonObject> = (value, trail) => {
  const given = record(value, trail);
  for (const name of Object.keys(given ?? {})) at(name, variable, given[name], trail);
  return given;
};

/** Reads a reference to a prompt stored at the provider; its variables are texts or input parts. */
export const readPrompt = object(
  { id: str, variables: optional(nullable(variables)), version: optional(nullable(str)) },
  "forbid",
);
