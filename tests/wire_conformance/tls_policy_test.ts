/** The versions and suites of TLS accepted by a listener, as seen by `openssl s_client`. */
import assert from "node:assert/strict";
import { dial } from "../../lib/grpc/client/dial.ts";
import { fetchText } from "../../lib/kernel/fetch/fetch_text.ts";
import { policyExchange } from "../../lib/sockets/fetch/policy_exchange.ts";
import { listenTls } from "../../lib/sockets/listen/tls.ts";
import {
  FIPS_TLS_POLICY,
  policyOfSuites,
  RUNTIME_SUITES,
  type TlsPolicy,
} from "../../lib/sockets/listen/tls_policy.ts";
import { Authority, openssl } from "../certificates.ts";
import { PATIENCE } from "../patience.ts";

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore: !openssl, fn });

/**
 * A listener under a policy that says `hello`. `ask` is a client with some arguments, and gives protocol and suite, or
 * nothing.
 */
async function withListener(
  policy: TlsPolicy,
  run: (ask: (...args: string[]) => Promise<string | undefined>, failures: string[]) => Promise<void>,
): Promise<void> {
  const authority = await Authority.make("ours");
  const { certificate, key } = await authority.sign("localhost");
  const failures: string[] = [];
  const listener = await listenTls({ host: "127.0.0.1", port: 0 }, { certificate, privateKey: key }, (socket) => {
    socket.on("error", () => {});
    socket.end("hello");
  }, { policy, onHandshakeError: (error) => failures.push(error.message) });
  const ask = async (...args: string[]) => {
    const command = ["s_client", "-connect", `127.0.0.1:${listener.port}`, "-alpn", "h2", "-ign_eof", ...args];
    const { stdout } = await new Deno.Command("openssl", { args: command, stdin: "null", stderr: "null" }).output();
    const text = new TextDecoder().decode(stdout);
    const [, protocol, suite] = /^New, (\S+), Cipher is (\S+)/m.exec(text) ?? [];
    return text.includes("hello") ? `${protocol} ${suite}` : undefined;
  };
  try {
    await run(ask, failures);
  } finally {
    await listener.close();
    await authority.remove();
  }
}

test("under FIPS 140-2 a client gets TLS 1.2 with AES-GCM, and neither TLS 1.3 nor another suite", () =>
  withListener(FIPS_TLS_POLICY, async (ask, failures) => {
    assert.equal(await ask(), "TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384");
    assert.equal(await ask("-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"), "TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256");
    assert.equal(await ask("-tls1_3"), undefined);
    assert.equal(await ask("-tls1_1"), undefined);
    failures.length = 0;
    assert.equal(await ask("-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"), undefined);
    const reason = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 is the first suite of both, and not allowed";
    assert.deepEqual(failures, [reason]);
  }));

test("named suites are the only ones", () =>
  withListener(policyOfSuites(["TLS_AES_256_GCM_SHA384"]), async (ask) => {
    assert.equal(await ask("-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384"), "TLSv1.3 TLS_AES_256_GCM_SHA384");
    assert.equal(await ask("-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256"), undefined);
    assert.equal(await ask("-tls1_2"), undefined);
  }));

test("the runtime accepts the suites that it lists", () =>
  withListener(policyOfSuites([]), async (ask) => {
    for (const suite of RUNTIME_SUITES["TLSv1.3"]) assert.equal(await ask("-ciphersuites", suite), `TLSv1.3 ${suite}`);
    const short = RUNTIME_SUITES["TLSv1.2"].filter((suite) => suite.includes("ECDSA")).map((suite) =>
      suite.replace(/^TLS_/, "").replace("_WITH_", "_").replace("AES_", "AES").replace(/_SHA256$/, (end) =>
        suite.includes("CHACHA20") ? "" : end).replaceAll("_", "-")
    );
    for (const suite of short) {
      assert.equal(await ask("-tls1_2", "-cipher", suite), `TLSv1.2 ${suite}`);
    }
  }));

/** Runs with a limited server of openssl, which answers requests with a page. */
async function withTlsServer<T>(
  limits: readonly string[],
  run: (port: number, roots: string) => Promise<T>,
): Promise<T> {
  const authority = await Authority.make("ours");
  const folder = await Deno.makeTempDir();
  const { certificate, key } = await authority.sign("localhost");
  await Deno.writeTextFile(`${folder}/cert.pem`, certificate);
  await Deno.writeTextFile(`${folder}/key.pem`, key);
  const own = ["-cert", `${folder}/cert.pem`, "-key", `${folder}/key.pem`];
  const args = ["s_server", "-accept", "127.0.0.1:0", ...own, ...limits];
  const server = new Deno.Command("openssl", { args, stdin: "piped", stdout: "piped", stderr: "null" }).spawn();
  try {
    let said = "";
    for await (const text of server.stdout.pipeThrough(new TextDecoderStream())) {
      if (/ACCEPT \S+:(\d+)/.test(said += text)) break;
    }
    return await run(Number(/ACCEPT \S+:(\d+)/.exec(said)?.[1]), authority.certificate);
  } finally {
    server.kill("SIGKILL");
    await server.stdin.close().catch(() => {});
    await server.status;
    await authority.remove();
    await Deno.remove(folder, { recursive: true });
  }
}

/** The outcome of a gRPC client under a policy: `connected`, or the reason of a failure. */
function dialled(policy: TlsPolicy, ...limits: string[]): Promise<string> {
  return withTlsServer(["-alpn", "h2", ...limits], async (port, roots) => {
    try {
      const tls = { serverName: "localhost", roots, policy };
      const transport = await dial({ host: "127.0.0.1", port, tls }, PATIENCE);
      transport.destroy();
      return "connected";
    } catch (error) {
      return (error as Error).message;
    }
  });
}

/** The outcome of a fetch under a policy: `answered`, or the reason of a failure. */
function fetched(policy: TlsPolicy, ...limits: string[]): Promise<string> {
  return withTlsServer(["-www", ...limits], async (port, ca) => {
    try {
      const exchange = policyExchange(policy, { further: ca });
      const page = await fetchText(`https://localhost:${port}/`, { timeout: 10_000, size: 100_000 }, { exchange });
      return page.includes("s_server") ? "answered" : page;
    } catch (error) {
      return (error as Error).message;
    }
  });
}

test("a client under FIPS 140-2 takes TLS 1.2 with AES-GCM, and neither TLS 1.3 nor another suite", async () => {
  const chacha = ["-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"];
  assert.equal(await dialled(FIPS_TLS_POLICY, "-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"), "connected");
  assert.match(await dialled(FIPS_TLS_POLICY, "-tls1_3"), /^127\.0\.0\.1:\d+: .*(protocol|version)/i);
  assert.match(
    await dialled(FIPS_TLS_POLICY, ...chacha),
    /the server chose the cipher suite TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, which is not allowed$/,
  );
  assert.equal(await dialled(policyOfSuites([]), "-tls1_3"), "connected");
  assert.equal(await dialled(policyOfSuites([]), ...chacha), "connected");
});

test("a fetch under FIPS 140-2 takes TLS 1.2 with AES-GCM, and neither TLS 1.3 nor another suite", async () => {
  const chacha = ["-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"];
  assert.equal(await fetched(FIPS_TLS_POLICY, "-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"), "answered");
  assert.match(await fetched(FIPS_TLS_POLICY, "-tls1_3"), /^https:.*(protocol|version)/i);
  assert.match(
    await fetched(FIPS_TLS_POLICY, ...chacha),
    /the server chose the cipher suite TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, which is not allowed$/,
  );
  assert.equal(await fetched(policyOfSuites([]), "-tls1_3"), "answered");
});

test("a fetch by a policy trusts the authorities that it is given, and a server by its name alone", async () => {
  const page = (port: number, host: string, ca: string) =>
    fetchText(`https://${host}:${port}/`, { timeout: 10_000, size: 100_000 }, {
      exchange: policyExchange(FIPS_TLS_POLICY, { further: ca }),
    });
  const other = await Authority.make("theirs");
  try {
    await withTlsServer(["-www"], async (port, ca) => {
      assert.match(await page(port, "localhost", ca), /s_server/);
      await assert.rejects(page(port, "localhost", other.certificate), /certificate|issuer/i);
      await assert.rejects(page(port, "127.0.0.1", ca), /altname|certificate/i);
    });
  } finally {
    await other.remove();
  }
});
