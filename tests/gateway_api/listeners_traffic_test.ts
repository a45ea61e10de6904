/** Connections at derived listeners, from a real Envoy. */
import assert from "node:assert/strict";
import type { ListenerTlsView } from "../../lib/gateway_api/attach/types.ts";
import { Authority, openssl } from "../certificates.ts";
import { envoyPath } from "../envoy/path.ts";
import { exchange, withEnvoy } from "../translate/gateway/running_envoy.ts";
import { authority as authorityObject, ends, PASSES } from "./derived_world.ts";
import { attached } from "./routes.ts";
import { authorities, backends, type RoutedListener, servedAt, tlsSecret } from "./running_listeners.ts";

const binary = envoyPath();
const ignore = binary === undefined || !openssl;

/** A folder for a socket, and an authority with certificates for a test. */
async function withAuthority(use: (socket: string, authority: Authority) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const authority = await Authority.make("test");
  try {
    await use(`${folder}/gateway.sock`, authority);
  } finally {
    await authority.remove();
    await Deno.remove(folder, { recursive: true });
  }
}

/** The answer to some bytes by a client of TLS; `refused` when the connection ends without an answer. */
const answered = (socket: string, servername: string, more: object = {}) =>
  exchange({ socket, tls: { servername, ...more } }, "hi").catch(() => "refused");

Deno.test({
  name: "on one port TLS ends for some server names and passes through for others; all other names are refused",
  ignore,
  fn: () =>
    withAuthority(async (socket, authority) => {
      const web = await authority.sign("ends.example.com");
      const own = await authority.sign("passes.example.com");
      const listeners: readonly RoutedListener[] = [
        {
          listener: { protocol: "TLS", name: "ends", hostname: "ends.example.com", tls: ends() },
          routes: [attached("TLSRoute", { plain: 1 }, { hostnames: ["ends.example.com"] })],
        },
        {
          listener: { protocol: "TLS", name: "passes", hostname: "*.example.com", tls: PASSES },
          routes: [
            attached("TLSRoute", { secure: 1 }, { hostnames: ["passes.example.com"] }),
            attached("TLSRoute", { closed: 1 }, { hostnames: ["unusable.example.com"] }),
          ],
        },
        {
          listener: { protocol: "TLS", name: "any", tls: PASSES },
          routes: [attached("TLSRoute", { secure: 1 })],
        },
        {
          listener: { protocol: "TLS", name: "empty", hostname: "empty.example.com", tls: ends() },
          routes: [],
        },
      ];
      const secure = { secure: { cert: own.certificate, key: own.key } };
      await backends(["plain", "secure"], secure, async (clusters) => {
        const served = servedAt(socket, listeners, clusters, [tlsSecret("pki", "web", web)]);
        await withEnvoy(binary!, served, async () => {
          const trusted = { ca: authority.certificate, rejectUnauthorized: true };
          const ask = (name: string) => answered(socket, name, trusted);
          assert.equal(await ask("ends.example.com"), "plain hi");
          assert.equal(await ask("passes.example.com"), "secure hi");
          assert.equal(await ask("unusable.example.com"), "refused");
          assert.equal(await ask("other.example.com"), "refused", "the listener with a wider hostname does not get it");
          assert.equal(await ask("empty.example.com"), "refused", "a listener without a route");
          assert.equal(await answered(socket, "elsewhere.org"), "secure hi");
        });
      });
    }),
});

Deno.test({
  name: "connections of a TCPRoute follow the weights; the share of an unusable backend is closed",
  ignore: binary === undefined,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    const socket = `${folder}/gateway.sock`;
    try {
      await backends(["first", "second", "third"], {}, async (clusters) => {
        const routes = [
          attached("TCPRoute", { first: 60, second: 20, closed: 20, third: 0 }),
          attached("TCPRoute", { third: 1 }),
        ];
        const served = servedAt(socket, [{ listener: { protocol: "TCP" }, routes }], clusters);
        await withEnvoy(binary!, served, async () => {
          const counts: Record<string, number> = {};
          for (let i = 0; i < 400; i++) {
            const answer = await exchange({ socket }, "hi").catch(() => "closed");
            counts[answer] = (counts[answer] ?? 0) + 1;
          }
          assert.deepEqual(Object.keys(counts).sort(), ["closed", "first hi", "second hi"]);
          // Five standard deviations of 400 draws.
          const near = (answer: string, share: number) => {
            const spread = 5 * Math.sqrt(400 * share * (1 - share));
            assert.ok(Math.abs((counts[answer] ?? 0) - 400 * share) < spread, JSON.stringify(counts));
          };
          near("first hi", 0.6);
          near("second hi", 0.2);
          near("closed", 0.2);
        });
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name:
    "a listener that verifies clients lets in certificates of its authorities; the insecure fallback lets in everyone",
  ignore,
  fn: () =>
    withAuthority(async (socket, authority) => {
      const foreign = await Authority.make("foreign");
      try {
        const web = await authority.sign("web.example.com");
        const roots = authorityObject("ConfigMap", "pki", "roots");
        const validated = (clients: ListenerTlsView["clients"], from = roots) => ends({ clients, authorities: [from] });
        const of = (name: string, tls: ListenerTlsView): RoutedListener => ({
          listener: { protocol: "TLS", name, hostname: `${name}.example.com`, tls },
          routes: [attached("TLSRoute", { plain: 1 }, { hostnames: [`${name}.example.com`] })],
        });
        const listeners = [
          of("strict", validated("required")),
          of("fallback", validated("unverified")),
          of("secret", validated("required", authorityObject("Secret", "pki", "ca"))),
          of(
            "listed",
            ends({ clients: "required", authorities: [authorityObject("ConfigMap", "pki", "listed"), roots] }),
          ),
          of(
            "both",
            ends({ clients: "required", authorities: [authorityObject("ConfigMap", "pki", "foreign"), roots] }),
          ),
        ];
        const ca = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "pki", name: "ca" } };
        const client = await authority.sign("client");
        const stranger = await foreign.sign("client");
        const listed = authorities("pki", "listed", foreign.certificate);
        const revoked = await foreign.revoke((await foreign.sign("gone")).certificate);
        const manifests = [
          { ...listed, data: { ...listed.data, "ca.crl": revoked } },
          tlsSecret("pki", "web", web),
          authorities("pki", "roots", authority.certificate),
          authorities("pki", "foreign", foreign.certificate),
          { ...ca, stringData: { "ca.crt": authority.certificate } },
        ];
        await backends(["plain"], {}, async (clusters) => {
          await withEnvoy(binary!, servedAt(socket, listeners, clusters, manifests), async () => {
            const ask = async (name: string) => [
              await answered(socket, `${name}.example.com`),
              await answered(socket, `${name}.example.com`, { cert: client.certificate, key: client.key }),
              await answered(socket, `${name}.example.com`, { cert: stranger.certificate, key: stranger.key }),
            ];
            assert.deepEqual(await ask("strict"), ["refused", "plain hi", "refused"]);
            assert.deepEqual(await ask("secret"), ["refused", "plain hi", "refused"]);
            assert.deepEqual(await ask("both"), ["refused", "plain hi", "plain hi"], "clients of every authority");
            const why = "with a list of revoked certificates, an authority without a list vouches for nobody";
            assert.deepEqual(await ask("listed"), ["refused", "refused", "plain hi"], why);
            assert.deepEqual(await ask("fallback"), ["plain hi", "plain hi", "plain hi"]);
          });
        });
      } finally {
        await foreign.remove();
      }
    }),
});
