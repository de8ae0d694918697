import { describe, expect, it } from "vitest";
import { growthOf } from "../testing/growth.ts";
import {
  answerRedactor,
  isSecretName,
  maskSecrets,
  maskUserInfo,
  maskWord,
  redactMessage,
  redactor,
  secretsIn,
} from "./secrets.ts";

describe("isSecretName", () => {
  it.each([
    ...["password", "db_passwd", "passphrase", "secret", "client_secret", "clientSecret", "credentials"],
    ...["authorization", "auth", "bearer", "github_pat", "cookie", "jwt", "session_cookie"],
    ...["policy_api_key", "apiKey", "apikey", "api_keys", "key", "token", "hf_token", "access_token_2"],
    ...["OPENAI_API_KEY", "HF_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "x-api-key"],
  ])("%s names a secret", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    ...[
      "max_output_tokens",
      "max_tokens",
      "tokenizer",
      "num_speculative_tokens",
      "eos_token",
      "eos_token_id",
    ],
    ...["key_column", "required_keys", "input_key", "sort_key", "monkey", "author", "authors", "passing"],
    ...["api_key_env", "password_file", "auth_type", "token_id_capture", "config_paths", "keyboard"],
  ])("%s names a setting", (name) => {
    expect(isSecretName(name)).toBe(false);
  });

  it("treats names below headers as headers", () => {
    expect(isSecretName("X-Signature", "default_headers")).toBe(true);
    expect(isSecretName("X-Signature", "other")).toBe(false);
  });
});

describe("maskSecrets", () => {
  it("searches a megabyte without a secret at once", () => {
    // With quadratic work, this takes hours.
    const data = { image: "a".repeat(1e6), flags: "--a ".repeat(250_000), spaces: `a${" ".repeat(1e6)}` };
    expect(maskSecrets(data)).toEqual(data);
  });

  it("masks secrets within longer texts, and keeps the rest", () => {
    const data = {
      cmd: 'curl -H "Authorization: Bearer tok" https://host/x',
      args: ["--api-key", "x1", "--verbose", "--password=x2", "--model", "m"],
      line: "serve --hf-token x3 --port 80",
      url: "https://host/file?se=2030&sig=x4&token=x5&page=2",
      connection_string: "AccountName=me;AccountKey=x6==;EndpointSuffix=net",
      pem: "-----BEGIN RSA PRIVATE KEY-----\nx7\n-----END RSA PRIVATE KEY-----\n",
      passcode: "x8",
      accessKeyId: "x9",
      prompt: "Basic rules: key = value, max_tokens=5. Say who the bearer of news is.",
    };
    expect(maskSecrets(data)).toEqual({
      cmd: 'curl -H "Authorization: ****" https://host/x',
      args: ["--api-key", "****", "--verbose", "--password=****", "--model", "m"],
      line: "serve --hf-token **** --port 80",
      url: "https://host/file?se=2030&sig=****&token=****&page=2",
      connection_string: "AccountName=me;AccountKey=****;EndpointSuffix=net",
      pem: "****\n",
      passcode: "****",
      accessKeyId: "****",
      prompt: data.prompt,
    });
  });

  it("masks texts with secret names, and keeps settings", () => {
    const data = {
      policy_api_key: ["a", "b", null],
      password: 12345678,
      pwd: "",
      hf_token: null,
      max_output_tokens: 4096,
      use_token: true,
      credentials: { user: "me", more: [{ region: "x" }], port: 5 },
      token_box: { plain: "p", inner_token: "t" },
      env: { OPENAI_API_KEY: "sk-1", HOME: "/root" },
      default_headers: { "X-Team-Secret": "s", Cookie: "c", "X-Team": "blue" },
    };
    const before = JSON.stringify(data);
    expect(maskSecrets(data)).toEqual({
      policy_api_key: ["****", "****", null],
      password: "****",
      pwd: "",
      hf_token: null,
      max_output_tokens: 4096,
      use_token: true,
      credentials: { user: "****", more: [{ region: "****" }], port: 5 },
      token_box: { plain: "p", inner_token: "****" },
      env: { OPENAI_API_KEY: "****", HOME: "/root" },
      default_headers: { "X-Team-Secret": "****", Cookie: "****", "X-Team": "blue" },
    });
    expect(JSON.stringify(data)).toBe(before);
  });

  it("masks a secret that is repeated under another name, and user info in URLs", () => {
    expect(
      maskSecrets({
        api_key: "sk-abcdef1234",
        url: "https://h/?k=sk-abcdef1234",
        command: "serve --key sk-abcdef1234",
        database: "postgres://me:hunter2@db/x",
        note: "hunter2 again",
      }),
    ).toEqual({
      api_key: "****",
      url: "https://h/?k=****",
      command: "serve --key ****",
      database: "postgres://****@db/x",
      note: "**** again",
    });
  });

  it("does not mask plain words of credentials elsewhere", () => {
    expect(secretsIn({ auth: { kind: "chat_completions", token: "abcdefgh" } })).toEqual(["abcdefgh"]);
  });
});

it("finds user info in linear time", async () => {
  expect(maskUserInfo("see http://u:p@ss@h/x and a@b")).toBe("see http://****@h/x and a@b");
  const growth = await growthOf((size) => maskUserInfo("a://".repeat(size) + "a".repeat(size)), 2_000);
  expect(growth).toBeLessThan(1.6);
});

it.each(["base64", "base64url", "hex"] as const)(
  "takes secrets out that are encoded as %s, also within a longer text",
  (encoding) => {
    const secret = "sk-SECRET?>~abcdef1234567890";
    const redact = redactor([secret]);
    for (const before of ["", "u", "us", "use:", "user:"]) {
      for (const after of ["", "x", "yz"]) {
        const text = Buffer.from(before + secret + after).toString(encoding);
        const rest = redact(text).split("****");
        expect(rest).toHaveLength(2);
        // What is left over belongs to the neighbours of the secret, and to one byte of it at either end at most.
        expect(rest.join("").length).toBeLessThanOrEqual((before.length + after.length + 2) * 2 + 4);
      }
    }
    expect(redact(Buffer.from(secret).toString("hex").toUpperCase())).toBe("****");
  },
);

describe("redactMessage", () => {
  it("removes keys, signed queries, user names and bearer headers", () => {
    const text =
      "GET https://me:pw@cdn.example/x?X-Amz-Signature=abc failed with hf_abcdefgh (Authorization: Bearer hf_abcdefgh)";
    expect(redactMessage(text, ["hf_abcdefgh", undefined, ""])).toBe(
      "GET https://****@cdn.example/x failed with **** (Authorization: Bearer ****)",
    );
    expect(redactMessage("see key%2Fwith%2Fslash", ["key/with/slash"])).toBe("see ****");
    expect(redactMessage("Bearer glpat-0123456789 rejected", [])).toBe("Bearer **** rejected");
  });
});

describe("maskWord", () => {
  it.each([
    ["++a.api_key=sk", "++a.api_key=****"],
    ["++db.client_secret=abc", "++db.client_secret=****"],
    ["++x.env.OPENAI_API_KEY=sk-1", "++x.env.OPENAI_API_KEY=****"],
    ["++a.default_headers.Authorization=Bearer X", "++a.default_headers.Authorization=****"],
    ["++a.openai_default_headers={Authorization: Bearer X}", "++a.openai_default_headers=****"],
    ["++a.b={'X-Secret': y}", "++a.b=****"],
    ["++url=https://me:pw@h/x", "++url=https://****@h/x"],
    ["--model-apikey=sk", "--model-apikey=****"],
    ["++limit=3", "++limit=3"],
    ["++max_output_tokens=4096", "++max_output_tokens=4096"],
    ["++a.b={input: 1}", "++a.b={input: 1}"],
    ["++author=me", "++author=me"],
    ["plain", "plain"],
  ])("%s is shown as %s", (word, shown) => {
    expect(maskWord(word)).toBe(shown);
  });
});

it("masks every form of a secret in a text", () => {
  const secret = 'sk-a"b/c+d==';
  const redact = redactor([secret, "EMPTY", undefined]);
  expect(
    redact(`key ${secret}, url ?k=${encodeURIComponent(secret)}, json ${JSON.stringify({ secret })}`),
  ).toBe('key ****, url ?k=****, json {"secret":"****"}');
  expect(redact("EMPTY is a word")).toBe("EMPTY is a word");
});

it.each([" sk-abcdef1234 ", "sk-abcdef1234\n", "Bearer sk-abcdef1234"])(
  "knows %j as an endpoint got it",
  (secret) => {
    expect(redactor([secret])("rejected: sk-abcdef1234.")).toBe("rejected: ****.");
  },
);

it("masks only certain keys in answers", () => {
  const redact = answerRedactor(["sk-SECRET-abcdef1234567890 ", "sk-no-key-required", "not-needed"]);
  const text = "sk-no-key-required is not-needed here; sk-SECRET-abcdef1234567890 is";
  expect(redact(text)).toBe("sk-no-key-required is not-needed here; **** is");
});

it("masks a key in JSON that is quoted in JSON", () => {
  const key = 'sk-a/b+c=12345678"q90xyz';
  const echoed = JSON.stringify({ output_text: JSON.stringify({ authorization: `Bearer ${key}` }) });
  expect(answerRedactor([key])(echoed)).not.toContain("12345678");
});
