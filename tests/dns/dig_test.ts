import assert from "node:assert/strict";
import { sh } from "./support/namespace.ts";
import { startServer } from "./support/server.ts";
import { startUpstream } from "./support/upstream.ts";

/** Whether dig is installed. */
async function hasDig(): Promise<boolean> {
  try {
    await sh("dig", ["-v"]);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const there = await hasDig();
const giant = Array.from({ length: 100 }, (_, i) => `240.0.0.${i}`);
const upstream = { "www.bing.com": ["1.1.1.1"], giant, "failing.example": "SERVFAIL" as const };

/** Arguments, the required output of dig, and the forbidden output. */
const rows: [args: string[], says: RegExp[], never?: RegExp[]][] = [
  [["productpage"], [/status: NOERROR/, /flags: qr aa rd ra;/, /^productpage\.\s+30\s+IN\s+A\s+9\.9\.9\.9$/m]],
  [["productpage", "AAAA"], [/status: NOERROR/, /ANSWER: 0/]],
  [["-x", "9.9.9.9"], [/status: NXDOMAIN/]],
  [["ProductPage.NS1"], [/^ProductPage\.NS1\.\s+30\s+IN\s+A\s+9\.9\.9\.9$/m]],
  [["www.google.com.ns1.svc.cluster.local"], [
    /^www\.google\.com\.ns1\.svc\.cluster\.local\.\s+30\s+IN\s+CNAME\s+www\.google\.com\.$/m,
    /^www\.google\.com\.\s+30\s+IN\s+A\s+1\.1\.1\.1$/m,
  ]],
  [["foo.wildcard.ns1.svc.cluster.local"], [
    /CNAME\s+foo\.wildcard\.$/m,
    /^foo\.wildcard\.\s+30\s+IN\s+A\s+10\.10\.10\.1[01]$/m,
  ]],
  [["allocated.external.example", "AAAA"], [/^allocated\.external\.example\.\s+30\s+IN\s+AAAA\s+2001:2::7$/m]],
  [["productpage"], [/EDNS: version: 0, flags:; udp: 4096/]],
  [["productpage", "+dnssec"], [/EDNS: version: 0, flags: do; udp: 4096/]],
  [["productpage", "+noedns"], [/status: NOERROR/], [/EDNS/]],
  [["productpage", "+edns=1", "+noednsnegotiation"], [/status: BADVERS/]],
  [["productpage", "+opcode=4"], [/status: NOTIMP/]],
  [["productpage", "+header-only"], [/status: FORMERR/]],
  [["productpage", "+norecurse"], [/flags: qr aa ra;/]],
  [["productpage", "+cdflag"], [/flags: qr aa rd ra cd;/]],
  [["productpage", "+tcp"], [/9\.9\.9\.9/, /\(TCP\)/]],
  [["productpage", "TXT"], [/status: NOERROR/, /ANSWER: 0/]],
  [["www.bing.com"], [/^www\.bing\.com\.\s+3600\s+IN\s+A\s+1\.1\.1\.1$/m, /flags: qr rd ra;/]],
  [["no.such.example"], [/status: NXDOMAIN/]],
  [["failing.example"], [/status: SERVFAIL/]],
  [["giant", "+noedns"], [/Truncated, retrying in TCP mode/, /ANSWER: 100,/]],
  [["giant", "+noedns", "+ignore"], [/flags: qr tc rd ra;/]],
  [["known-giant", "+noedns"], [/Truncated, retrying in TCP mode/, /ANSWER: 100,/]],
  [["known-giant", "+noedns", "+ignore"], [/flags: qr aa tc rd ra;/, /ANSWER: 30,/]],
  [["known-giant", "+bufsize=4000"], [/ANSWER: 100,/], [/Truncated/]],
];

Deno.test({
  name: there
    ? "dig understands every answer"
    : "dig understands every answer (ignored: no dig; `deno task setup` installs it)",
  ignore: !there,
  async fn(t) {
    const behind = startUpstream("127.0.0.1", 0, upstream);
    using test = await startServer({ servers: ["127.0.0.1"], port: behind.port });
    test.server.update({ ...test.server.nameTable, "known-giant": { ips: giant } });
    const common = ["@127.0.0.1", "-p", String(test.at.port), "+tries=1", "+time=60", "+nocookie"];
    for (const [args, says, never = []] of rows) {
      await t.step(args.join(" "), async () => {
        const said = await sh("dig", [...common, ...args]);
        for (const pattern of says) assert.match(said, pattern);
        for (const pattern of [...never, /malformed|recursion requested but not available|extra bytes|mismatch/]) {
          assert.doesNotMatch(said, pattern);
        }
      });
    }
    behind.close();
  },
});
