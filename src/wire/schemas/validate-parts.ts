import { strip } from "../../base/python/door.ts";
import { isObject } from "../../base/python/json/door.ts";
import {
  anything,
  best,
  byType,
  type Fields,
  float,
  int,
  list,
  nullish,
  object,
  oneOf,
  optional,
  type Reader,
  record,
  recordOf,
  reject,
  str,
  textOr,
  type Unknowns,
} from "./readers.ts";

const textOrRecord: Reader<unknown> = (value, trail) => (isObject(value) ? value : str(value, trail));
const videoFields = object<{ video_url?: unknown; video?: unknown }>({
  type: str,
  video_url: optional(textOrRecord),
  video: optional(textOrRecord),
});
const inputVideo: Reader<unknown> = (value, trail) => {
  const part = videoFields(value, trail);
  const source = part?.video_url ?? part?.video;
  const link = isObject(source) ? source["url"] : source;
  const isOne = (part?.video_url === undefined) !== (part?.video === undefined);
  if (isOne && typeof link === "string" && strip(link) !== "") return part;
  const msg = "Value error, give exactly one of video_url and video, not empty";
  return reject(trail, "value_error", msg, value);
};

const imageDetail = oneOf("low", "high", "auto", "original");
const fileDetail = oneOf("auto", "low", "high");

/** The fields of texts, images and files for a model, by type. */
function inputPartFields(unknowns: Unknowns): Record<string, Fields> {
  const prompt_cache_breakpoint = optional(object({ mode: oneOf("explicit") }, unknowns));
  return {
    input_text: { text: str, type: str, prompt_cache_breakpoint },
    input_image: {
      detail: imageDetail,
      type: str,
      file_id: nullish(str),
      image_url: nullish(str),
      prompt_cache_breakpoint,
    },
    input_file: {
      type: str,
      detail: optional(fileDetail),
      file_data: optional(str),
      file_id: nullish(str),
      file_url: optional(str),
      filename: optional(str),
      prompt_cache_breakpoint,
    },
  };
}

const messagePart = byType<unknown>({ ...inputPartFields("drop"), input_video: inputVideo });

const prompt_cache_breakpoint = nullish(object({ mode: oneOf("explicit") }));

/** The output of a tool has fewer required fields than a message, and no videos. */
const toolOutputPart = byType({
  input_text: { text: str, type: str, prompt_cache_breakpoint },
  input_image: {
    detail: nullish(imageDetail),
    type: str,
    file_id: nullish(str),
    image_url: nullish(str),
    prompt_cache_breakpoint,
  },
  input_file: {
    type: str,
    detail: optional(fileDetail),
    file_data: nullish(str),
    file_id: nullish(str),
    file_url: nullish(str),
    filename: nullish(str),
    prompt_cache_breakpoint,
  },
});

/** A list of input parts. */
export const inputParts = list(messagePart);

/** The content of a message: text or input parts. */
export const messageContent = textOr(inputParts);

/** The output of a tool: text or parts. */
export const toolOutputReader = textOr(list(toolOutputPart));

const annotation = byType({
  file_citation: { file_id: str, filename: str, index: int, type: str },
  url_citation: { end_index: int, start_index: int, title: str, type: str, url: str },
  container_file_citation: {
    container_id: str,
    end_index: int,
    file_id: str,
    filename: str,
    start_index: int,
    type: str,
  },
  file_path: { file_id: str, index: int, type: str },
});
const logprob = object({ token: str, bytes: list(anything), logprob: float, top_logprobs: list(record) });

const outputText = object({
  annotations: list(annotation),
  text: str,
  type: optional(oneOf("output_text")),
  logprobs: nullish(list(logprob)),
});
const refusal = object({ refusal: str, type: optional(oneOf("refusal")) });

const outputPartReaders: Reader<unknown>[] = [outputText, refusal];
const IS_TEXT = { only: outputText as Reader<unknown> };

/** The parts of a message that the model wrote. */
export const outputParts = list<unknown>((value, trail) =>
  best(
    value,
    trail,
    outputPartReaders,
    isObject(value) && value["type"] === "output_text" ? IS_TEXT : undefined,
  ),
);

const part = byType<unknown>(inputPartFields("forbid"), "forbid");
const variable: Reader<unknown> = (value, trail) =>
  isObject(value) ? part(value, trail) : str(value, trail);

/** Reads a reference to a prompt that is stored at the provider. Its variables are texts or input parts. */
export const readPrompt = object(
  { id: str, variables: nullish(recordOf(variable)), version: nullish(str) },
  "forbid",
);
