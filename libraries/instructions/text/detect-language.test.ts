import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { detectLanguage } from "./detect-language.ts";

describe("detectLanguage", () => {
  it.each([
    ["en", "The weather is fine today, so we will go for a walk along the river."],
    ["de", "Das Wetter ist heute schön, also gehen wir am Fluss spazieren."],
    ["fr", "Il fait beau aujourd'hui, alors nous allons nous promener au bord de la rivière."],
    ["es", "Hoy hace buen tiempo, así que vamos a dar un paseo por la orilla del río."],
    ["it", "Oggi il tempo è bello, quindi faremo una passeggiata lungo il fiume."],
    ["pt", "Hoje o tempo está bom, então vamos dar um passeio à beira do rio."],
    ["ru", "Сегодня хорошая погода, поэтому мы пойдём гулять вдоль реки."],
    ["ja", "今日は天気がいいので、川沿いを散歩しましょう。"],
    ["ko", "오늘은 날씨가 좋아서 강가를 따라 산책을 할 거예요."],
    ["zh-cn", "今天天气很好，所以我们沿着河边散步。"],
    ["ar", "الطقس جميل اليوم لذلك سنتمشى على ضفاف النهر."],
    ["hi", "आज मौसम अच्छा है इसलिए हम नदी के किनारे टहलने जाएंगे।"],
    ["vi", "Hôm nay thời tiết đẹp nên chúng tôi sẽ đi dạo dọc bờ sông."],
    ["th", "วันนี้อากาศดี เราจึงจะไปเดินเล่นริมแม่น้ำ"],
    ["fi", "Tänään on kaunis sää, joten lähdemme kävelylle joen rantaan."],
  ])("%s", (code, text) => {
    expect(detectLanguage(text)).toBe(code);
  });

  it("returns no language for text without letters", () => {
    for (const text of ["", "12345 !!", "https://example.com/some/page", "\ud800", "😀"]) {
      expect(detectLanguage(text)).toBeNull();
    }
  });

  it("returns the same language every time", () => {
    const text = "LE PETIT CHAT DORT";
    expect(new Set(Array.from({ length: 5 }, () => detectLanguage(text))).size).toBe(1);
  });

  it("takes linear time for any text", async () => {
    for (const unit of ["a", "a@a.", "http://", "http://a.b ", "a-_.", "é", "😀", "ô\u0301", " "]) {
      expect(await growthOf((size) => detectLanguage(unit.repeat(size)), 5_000)).toBeLessThan(1.6);
    }
  });
});
