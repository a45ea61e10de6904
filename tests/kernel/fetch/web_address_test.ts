/** Addresses written by others: the request goes to the written host, and an appended path stays unchanged. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { isBaseAddress, isWebAddress, shownAddress } from "../../../lib/kernel/fetch/web_address.ts";
import { runs } from "../../properties.ts";

const BASES = [
  ...[
    "https://api:6443",
    "http://127.0.0.1:8080/",
    "https://[fd00::1]:443",
    "https://rancher.example/k8s/clusters/c-m-1",
  ],
  ...["https://id.example/realms/my%20realm/", "HTTPS://api", "https://login.example/a_b/v2.0", "https://a/x:y/~z"],
];

const WEB_ALONE = [
  "https://api/?",
  "https://api/quitquitquit?",
  "https://api?x=1",
  "https://api/a/../b",
  "https://api/..",
  "https://api/./",
  "https://api/%2e%2E/x",
  "https://api/a%2fb",
  "https://api/a%5Cb",
  "https://api/%00",
  "https://api//x",
  "https://api/a;b",
  "https://api/a//",
];

const NEITHER = [
  ...["", "api", "https://", "https:///x", "ftp://api", "file:///etc/passwd", "data:,x", "//api", "javascript:1"],
  ...["https://api/quitquitquit#", "https://api#", "https://user@api", "https://user:secret@api/", "https://@api"],
  ...[
    "https://api\\@evil",
    "https:\\\\api",
    "https:/api",
    "https://api\n",
    " https://api",
    "https://api /x",
    "https://a\tb",
  ],
  ...[
    "https://api/é",
    "https://api/\u0000",
    "https://api:99999",
    "https://a b",
    "https://[::1",
    `https://a/${"x".repeat(9000)}`,
  ],
];

Deno.test("a base has scheme, host and a plain path; an address that is asked as it is may have a query, never a user", () => {
  const wrong = (texts: readonly string[], is: (text: string) => boolean) => texts.filter((text) => !is(text));
  assert.deepEqual(wrong(BASES, isBaseAddress), []);
  assert.deepEqual(wrong([...BASES, ...WEB_ALONE], isWebAddress), []);
  assert.deepEqual([...WEB_ALONE, ...NEITHER].filter(isBaseAddress), []);
  assert.deepEqual(NEITHER.filter(isWebAddress), []);
});

Deno.test("a path appended to any base is requested whole, after the base's own path", () => {
  const piece = fc.constantFrom(
    ...[
      "/",
      "//",
      ".",
      "..",
      "?",
      "#",
      "@",
      ":",
      "\\",
      "%2e",
      "%2f",
      "%5c",
      "%20",
      "%",
      ";",
      "a",
      "b-1",
      " ",
      "\t",
      "é",
    ],
    ...["localhost", "10.0.0.1", "[::1]", ":80", "user", "http://", "&", "=", "~", "_"],
  );
  const text = fc.tuple(
    fc.constantFrom("https://", "http://", "HTTPS://", "https:/", ""),
    fc.array(piece, { maxLength: 8 }),
  ).map(([scheme, parts]) => scheme + parts.join(""));
  let taken = 0;
  fc.assert(
    fc.property(text, (base) => {
      if (!isBaseAddress(base)) return;
      taken++;
      const [, host = "", prefix = ""] = /^https?:\/\/([^/]+)(.*)$/i.exec(base.replace(/\/$/, "")) ?? [];
      const url = new URL(`${base.replace(/\/$/, "")}/apis/x`);
      assert.equal(url.pathname, `${prefix}/apis/x`);
      assert.deepEqual([url.search, url.hash, url.username, url.password], ["", "", "", ""]);
      assert.equal(url.host, new URL(`${url.protocol}//${host}`).host);
    }),
    { numRuns: runs(20_000) },
  );
  assert.ok(taken > 200, `${taken} of the texts are bases`);
});

Deno.test("an address is shown without its password", () => {
  assert.equal(shownAddress("https://user:secret@api/x?y"), "https://***@api/x?y");
  assert.equal(shownAddress("socks5://user:se@cret@api"), "socks5://***@api");
  assert.equal(shownAddress("https://api/a@b"), "https://api/a@b");
  assert.equal(shownAddress(`https://a/${"x".repeat(500)}`).length, 203);
});
