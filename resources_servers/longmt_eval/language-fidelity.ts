import { setImmediate } from "node:timers/promises";
import { codePointLength } from "nemo-gym/python";
import { detectLanguage } from "../../libraries/instructions/text/index.ts";

const shortText = 50;
const pieceLength = 500;
const shortPiece = 100;

/** The locales whose language can be detected. */
const locales = new Set(
  `ar_EG ar_SA bg_BG bn_IN ca_ES cs_CZ da_DK de_DE el_GR es_MX et_EE fa_IR fi_FI fil_PH fr_CA fr_FR gu_IN he_IL hi_IN hr_HR hu_HU id_ID it_IT ja_JP kn_IN
ko_KR lt_LT lv_LV ml_IN mr_IN nl_NL no_NO pa_IN pl_PL pt_BR pt_PT ro_RO ru_RU sk_SK sl_SI sv_SE sw_KE sw_TZ ta_IN te_IN th_TH tr_TR uk_UA ur_PK vi_VN zh_CN zh_TW`.split(
    /\s+/,
  ),
);

/** The code by which the detector knows the language of a locale. */
function languageOf(locale: string): string | undefined {
  if (!locales.has(locale)) return undefined;
  if (locale.startsWith("zh_")) return locale.replace("_", "-").toLowerCase();
  return locale === "fil_PH" ? "tl" : locale.split("_")[0];
}

/**
 * The share of the text that is in the language of the locale; null if that is not known. Short texts, and texts whose language
 * cannot be told, count as right.
 */
export async function languageFidelity(text: string, locale: string): Promise<number | null> {
  if (codePointLength(text) < shortText) return 1;
  const expected = languageOf(locale);
  if (expected === undefined) return null;
  let detected = 0;
  let right = 0;
  for (const piece of pieces(text)) {
    const language = detectLanguage(piece);
    if (language === null) continue;
    detected++;
    if (language === expected) right++;
    // A detection takes milliseconds: other requests go on in between.
    await setImmediate();
  }
  return detected === 0 ? 1 : right / detected;
}

function pieces(text: string): string[] {
  const characters = [...text];
  const found: string[] = [];
  for (let start = 0; start < characters.length; start += pieceLength)
    found.push(characters.slice(start, start + pieceLength).join(""));
  const rest = characters.length % pieceLength;
  if (found.length > 1 && rest > 0 && rest < shortPiece) found.pop();
  return found;
}
