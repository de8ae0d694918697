import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { decodeEntities } from "./entities.ts";
import { extractText, TextExtractor } from "./extract-text.ts";

const paragraph =
  "Lighthouses were lit with coal before oil lamps and lenses made their beams reach further out to sea. ";

describe("extractText", () => {
  it("keeps prose and omits navigation and other surroundings", () => {
    const page = `<!doctype html><html><head><title>Lights</title><style>p{color:red}</style><script>if (a<b) "<p>no</p>"</script></head>
      <body class="has-sidebar"><nav><a href="/">Home</a><a href="/x">Other</a></nav><div class="cookie-banner">We use cookies</div>
      <h1>On lighthouses</h1><p>${paragraph}</p><ul><li>Fresnel&nbsp;lens</li><li>Fog &amp; horn</li></ul>
      <div class="menu"><a>One</a> <a>Two</a></div><footer>Imprint</footer></body></html>`;
    expect(extractText(page)).toBe(`On lighthouses\n${paragraph.trim()}\n- Fresnel lens\n- Fog & horn`);
  });

  it("prefers the part that the page marks as main", () => {
    const page = `<div>Trending stories elsewhere on this site</div><main><p>${paragraph.repeat(3)}</p></main><div>More outside</div>`;
    expect(extractText(page)).toBe(paragraph.repeat(3).trim());
    expect(extractText("<div>All of it</div><article>Teaser</article>")).toBe("All of it\nTeaser");
  });

  it("omits lists of links but keeps prose with links", () => {
    const links = "<p><a>First link</a> <a>Second link</a></p>";
    const prose = `<p>See <a>the lens</a>. ${paragraph}</p>`;
    expect(extractText(links + prose)).toBe(`See the lens. ${paragraph.trim()}`);
    expect(extractText(links)).toBe("First link Second link");
  });

  it("reads tables row by row and keeps preformatted text", () => {
    expect(extractText("<table><tr><th>Name<th>Height</tr><tr><td>Pharos<td>100 m</tr></table>")).toBe(
      "Name | Height\nPharos | 100 m",
    );
    expect(extractText("<pre>\n  a  b\n    c\n</pre>")).toBe("  a  b\n    c");
  });

  it.each([
    ["a < b and c > d", "a < b and c > d"],
    ["<p>one<p>two<br>three", "one\ntwo three"],
    ["<p title='a>b'>x</p>", "x"],
    ["<!-- <p>no</p> -->yes", "yes"],
    ["<!-- never closed <p>no", ""],
    ["<script>never closed", ""],
    ["x<", "x<"],
    ["x<a href=", "x"],
    ["x</>y", "xy"],
    ["<p hidden>no</p><p style='display: none'>no</p><p aria-hidden=true>no</p>yes", "yes"],
    ["<title>Only a title</title>", "Only a title"],
    ["<b><i>crossed</b> tags</i>", "crossed tags"],
    [
      "&lt;p&gt; &#233; &#xe9; &copy; &unknown; &#0; &#55296; &amp;lt;",
      "<p> é é © &unknown; \ufffd \ufffd &lt;",
    ],
    ["", ""],
  ])("reads %j", (html, text) => {
    expect(extractText(html)).toBe(text);
  });

  it("returns the same text for any chunking of the page", () => {
    const page = `<body><!-- note --><h1 class="a b">Tïtle</h1><script>"</scr"+"ipt>"</script><p>One &amp; two &#8212; ${paragraph}</p></body>`;
    const whole = extractText(page);
    for (const size of [1, 2, 3, 7, 64]) {
      const extractor = new TextExtractor();
      for (let at = 0; at < page.length; at += size) extractor.write(page.slice(at, at + size));
      expect(extractor.end()).toBe(whole);
    }
  });

  it.each([
    ["open tags", (size: number) => "<div>".repeat(size)],
    ["closing tags", (size: number) => `${"<div>".repeat(1000)}${"</span>".repeat(size)}`],
    ["half tags", (size: number) => "<a ".repeat(size)],
    ["quotes", (size: number) => `<a b="${"'".repeat(size)}`],
    ["attributes", (size: number) => `<a ${"x=1 ".repeat(size)}>`],
    ["comments", (size: number) => "<!--".repeat(size)],
    ["white space", (size: number) => `<pre>${" ".repeat(size)}x${" ".repeat(size)}</pre>`],
    ["ampersands", (size: number) => "&".repeat(size)],
    ["scripts", (size: number) => "<script></scrip".repeat(size)],
    ["equals", (size: number) => "<a ".concat("= ".repeat(size), ">")],
    ["angles", (size: number) => "<".repeat(size)],
  ])("takes linear time for %s", async (_, page) => {
    expect(await growthOf((size) => extractText(page(size)), 5_000)).toBeLessThan(1.6);
  });
});

describe("decodeEntities", () => {
  it("decodes the named entities of HTML 4", () => {
    expect(decodeEntities("&eacute;&Omega;&sigmaf;&hellip;&rarr;&le;&euro;&yuml;&Sigma;")).toBe("éΩς…→≤€ÿΣ");
  });
});
