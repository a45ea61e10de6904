/**
 * Access to the API: where the server looks for access, how it reads files, what it refuses, and when it reads files
 * again.
 */
import assert from "node:assert/strict";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { FileAccess, readAccessText } from "../../../lib/orch/access/file_access.ts";
import { findAccess, type PlaceHints } from "../../../lib/orch/access/find.ts";

const log = silentLog().scope("orch");
const base64 = (text: string) => new TextEncoder().encode(text).toBase64();

async function inFolder(work: (folder: string, put: (name: string, text: string) => string) => Promise<void>) {
  const folder = await Deno.makeTempDir({ prefix: "orch-access-" });
  try {
    await work(folder, (name, text) => {
      Deno.mkdirSync(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(`${folder}/${name}`, text);
      return `${folder}/${name}`;
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A config file with one context. */
const config = (user: string, cluster = "server: https://api:6443/") =>
  `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {${cluster}}}]
users: [{name: u, user: {${user}}}]
`;

const accessOf = (files: readonly string[], allowed: readonly string[] = [], clock = createFakeClock()) =>
  new FileAccess({ from: "files", files, by: "test" }, { allowed, log, clock });

Deno.test("the flag is before KUBECONFIG, the pod's account and the home folder", () =>
  inFolder((folder, put) => {
    const file = put(".kube/config", config("token: t"));
    put("account/token", "t");
    const hints = {
      flag: "/f",
      variable: "/a:/b",
      host: "10.0.0.1",
      port: "443",
      accountFolder: `${folder}/account`,
      home: folder,
    };
    const by = (changes: Partial<PlaceHints>) => findAccess({ ...hints, ...changes });
    assert.deepEqual(by({}), { from: "files", files: ["/f"], by: "flag --orchconfig" });
    assert.deepEqual(by({ flag: undefined }), { from: "files", files: ["/a", "/b"], by: "variable KUBECONFIG" });
    const pod = by({ flag: undefined, variable: "", host: "fd00::1" });
    assert.equal(pod?.from === "pod" && pod.server, "https://[fd00::1]:443");
    assert.deepEqual(by({ flag: undefined, variable: "", host: "" }), { from: "files", files: [file], by: file });
    assert.equal(by({ flag: undefined, variable: "", host: "", home: "/nowhere" }), undefined);
    // A pod's account has no contexts.
    const named = { flag: undefined, variable: "", context: "b" };
    assert.deepEqual(by(named), { from: "files", files: [file], by: file, context: "b" });
    assert.equal(by({ ...named, home: "/nowhere" }), undefined);
    return Promise.resolve();
  }));

Deno.test("a context's cluster and user: data, files beside the config, tokens, several files", () =>
  inFolder(async (folder, put) => {
    put("ca.pem", "CA");
    put("key.pem", "KEY");
    const own = put(
      "a",
      config(
        `client-certificate-data: ${base64("CERT")}, client-key: key.pem`,
        "server: https://api:6443/, certificate-authority: ca.pem",
      ),
    );
    const { server, ca, identity, authorization } = await accessOf([own]).current();
    assert.deepEqual([server, ca, identity, authorization], [
      "https://api:6443",
      "CA",
      { cert: "CERT", key: "KEY" },
      undefined,
    ]);
    put("token", "from-file\n");
    const user = put("users", "users: [{name: u, user: {token: old, tokenFile: token}}]");
    const both = await accessOf([user, own, `${folder}/absent`]).current();
    assert.equal(both.authorization, "Bearer from-file", "the first file that has a user of that name counts");
    const basic = await accessOf([put("b", config("username: a, password: b"))]).current();
    assert.equal(basic.authorization, `Basic ${base64("a:b")}`);
  }));

Deno.test("a named context counts in place of the current context; an unknown name is refused with the names", () =>
  inFolder(async (_folder, put) => {
    const file = put("a", config("token: first"));
    const other = put(
      "b",
      config("token: second").replaceAll("name: u,", "name: v,").replace("user: u", "user: v")
        .replaceAll("name: c,", "name: prod,"),
    );
    const by = (context?: string) =>
      new FileAccess({ from: "files", files: [file, other], by: "test", ...context === undefined ? {} : { context } }, {
        ...{ allowed: [], log, clock: createFakeClock() },
      });
    assert.equal((await by().current()).authorization, "Bearer first");
    assert.equal((await by("prod").current()).authorization, "Bearer second");
    await assert.rejects(
      async () => await by("none").current(),
      new Error(`${file}, ${other}: context: got "none", expected one of c, prod`),
    );
  }));

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    "a context that is not there",
    config("token: t").replace("current-context: c", "current-context: x"),
    /current-context: got "x", expected one of c/,
  ],
  ["no context", "users: []", /current-context: got none/],
  [
    "a cluster that is not there",
    config("token: t").replace("cluster: k", "cluster: x"),
    /contexts\[c\]\.cluster: got "x", expected one of k/,
  ],
  ["an address that is none", config("token: t", "server: api"), /clusters\[k\]\.server: got "api", expected https/],
  ...[
    "https://a?",
    "https://a/quit?",
    "https://a/quit#",
    "https://u:secret@a",
    "https://a/x/../y",
    "https://a/%2e%2e",
    "https://a\\\\b",
  ]
    .map((server) =>
      [
        `the address ${server}`,
        config("token: t", `server: "${server}"`),
        /clusters\[k\]\.server: got "https:[^"]*", expected https:\/\/host:port, with a plain path/,
      ] as const
    ),
  ...["http://p:80/x?y", "ftp://p", "p:80", "http://p#x", "http://u:secret@p/path"].map((proxy) =>
    [
      `the proxy ${proxy}`,
      config("token: t", `server: https://a, proxy-url: "${proxy}"`),
      /clusters\[k\]\.proxy-url: got "(?!.*secret).*", expected http:\/\/host:port/,
    ] as const
  ),
  ["values of other types", config("token: 5"), /users\.0\.user\.token/],
  [
    "groups of nobody",
    config("token: t, as-groups: [a]"),
    /users\[u\]\.as: got none, expected the user of as-groups/,
  ],
  [
    "an identifier and words of nobody",
    config("token: t, as: '', as-uid: x, as-user-extra: {a: [b]}"),
    /expected the user of as-uid and as-user-extra/,
  ],
  ["a key without its certificate", config("client-key: x"), /only one of client certificate and key, expected both/],
  [
    "data that is no base64",
    config("client-certificate-data: '%', client-key-data: '%'"),
    /client-certificate-data: expected base64/,
  ],
  [
    "another name for the certificate",
    config("token: t", "server: https://a, tls-server-name: b"),
    /tls-server-name: got "b"/,
  ],
  [
    "a program",
    config("exec: {command: aws, apiVersion: client.authentication.k8s.io/v1}"),
    /exec: got "aws", expected no program/,
  ],
  ["a provider", config("auth-provider: {name: gcp}"), /auth-provider: got gcp, expected oidc/],
  ["no YAML", "a: [", /not YAML/],
];
for (const [what, text, reason] of REFUSED) {
  Deno.test(`a config file with ${what} is refused with the place and the expectation`, () =>
    inFolder(async (_folder, put) => {
      await assert.rejects(async () => await accessOf([put("config", text)]).current(), reason);
    }));
}

Deno.test("a provider's token is sent for oidc; a program's for who is allowed to run one, anew when it ends", () =>
  inFolder(async (folder, put) => {
    const oidc = await accessOf([put("oidc", config("auth-provider: {name: oidc, config: {id-token: jwt}}"))])
      .current();
    assert.equal(oidc.authorization, "Bearer jwt");
    const soon = new Date(Date.UTC(2026, 0, 1) + 90_000).toISOString();
    put("count", "");
    const program = put(
      "program.sh",
      `#!/bin/sh\nprintf x >> ${folder}/count\n` +
        `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t'$(wc -c < ${folder}/count)'","expirationTimestamp":"${soon}"}}'\n`,
    );
    Deno.chmodSync(program, 0o755);
    const clock = createFakeClock();
    const access = accessOf(
      [put("exec", config("exec: {command: ./program.sh, apiVersion: client.authentication.k8s.io/v1}"))],
      ["exec"],
      clock,
    );
    assert.equal((await access.current()).authorization, "Bearer t1");
    await clock.advance(59_000);
    assert.equal((await access.current()).authorization, "Bearer t1");
    await clock.advance(10_000);
    assert.equal((await access.current()).authorization, "Bearer t2", "half a minute before its end");
  }));

Deno.test("files are read again after a minute, and at once after a refusal of the API; the last content outlives the loss of a file", () =>
  inFolder(async (_folder, put) => {
    const clock = createFakeClock();
    const file = put("config", config("token: one"));
    const access = accessOf([file], [], clock);
    assert.equal((await access.current()).authorization, "Bearer one");
    put("config", config("token: two"));
    assert.equal((await access.current()).authorization, "Bearer one");
    await clock.advance(2000);
    access.refused();
    assert.equal((await access.current()).authorization, "Bearer two");
    put("config", config("token: three"));
    await clock.advance(61_000);
    assert.equal((await access.current()).authorization, "Bearer three");
    Deno.removeSync(file);
    await clock.advance(61_000);
    assert.equal((await access.current()).authorization, "Bearer three");
  }));

Deno.test("the pod's account: its token is read anew", () =>
  inFolder(async (folder, put) => {
    put("token", "one\n");
    put("ca.crt", "CA");
    const clock = createFakeClock();
    const access = new FileAccess({ from: "pod", server: "https://10.0.0.1:443", folder, by: "the pod's account" }, {
      allowed: [],
      log,
      clock,
    });
    assert.deepEqual(await access.current(), { server: "https://10.0.0.1:443", ca: "CA", authorization: "Bearer one" });
    put("token", "two");
    await clock.advance(61_000);
    assert.equal((await access.current()).authorization, "Bearer two");
  }));

Deno.test("the text of a secret names no file of the server: token, certificate, key, authority; who allows one says so", () => {
  const user = (fields: string) => config(fields);
  const texts: Readonly<Record<string, string>> = {
    tokenFile: user("tokenFile: /etc/passwd"),
    clientCertificate: user(`client-certificate: /etc/passwd, client-key-data: ${base64("KEY")}`),
    clientKey: user(`client-certificate-data: ${base64("CERT")}, client-key: /etc/passwd`),
    certificateAuthority: config("token: t", "server: https://a, certificate-authority: /etc/passwd"),
  };
  for (const [way, text] of Object.entries(texts)) {
    const place = { from: "text", name: "secret", text, by: "secret" } as const;
    assert.throws(() => readAccessText(place, []), new RegExp(`${way}: got "/etc/passwd", expected no file`), way);
    assert.equal(readAccessText(place, [way]).name, "c");
  }
});

Deno.test("a token that no header can hold is refused without a word of it", () =>
  inFolder(async (_folder, put) => {
    for (const token of ["secret\nsecret", "secret secret", "sécret", "secret\u0000"]) {
      const file = put("config", config(`token: ${JSON.stringify(token)}`));
      await assert.rejects(async () => await accessOf([file]).current(), (error: Error) => {
        assert.match(error.message, /the user's token: got a text of \d+ characters, expected a token of one line/);
        assert.ok(!error.message.includes("cret"), error.message);
        return true;
      });
    }
  }));

Deno.test("a user whom a client impersonates has groups, an identifier and words, none of which is lost", () =>
  inFolder(async (_folder, put) => {
    const user = "token: t, as: jane, as-groups: [a, b], as-uid: x, as-user-extra: {c: [d]}";
    const { actsAs } = await accessOf([put("config", config(user))]).current();
    assert.deepEqual(actsAs, { user: "jane", groups: ["a", "b"], uid: "x", extra: { c: ["d"] } });
  }));
