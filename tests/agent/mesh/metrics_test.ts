/** Metrics about identities: real programs, and an event for each metric. */
import assert from "node:assert/strict";
import { callUnary, ClientCall } from "../../../lib/grpc/client/client_call.ts";
import { ClientConnection } from "../../../lib/grpc/client/client_connection.ts";
import { dial, type DialTarget } from "../../../lib/grpc/client/dial.ts";
import { encode } from "../../../lib/pb/codec.ts";
import { PrivateKey } from "../../../lib/pki/private_key.ts";
import { createCertificateRequest } from "../../../lib/pki/request.ts";
import type { AgentProcess } from "../../../scripts/demo/agent.ts";
import { IdentityMesh, SHORT_LEAVES } from "../../../scripts/demo/identity_mesh.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { SECRET } from "../../../lib/xds/protocol/types.ts";
import { envoyPath } from "../../envoy/path.ts";
import { PATIENCE, until } from "../../patience.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const SDS = "/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets";
const CREATE = "/istio.v1.auth.IstioCertificateService/CreateCertificate";

/** A rule about tokens. One server knows the rule's keys, another server does not. */
const tokenRules = (keys: string) => `
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: demo }
spec:
  jwtRules:
  - { issuer: one, jwksUri: "${keys}/keys" }
  - { issuer: two, jwksUri: "http://127.0.0.1:1/keys" }
`;

/** The values of a page of metrics, by name with labels. */
function values(text: string): ReadonlyMap<string, number> {
  return new Map(
    [...text.matchAll(/^([a-z_]+(?:\{[^}]*\})?) (\S+)$/gm)].map(([, name, value]) => [name!, Number(value)]),
  );
}

/** Resolves when all named metrics are above 0 at once. */
async function untilCounted(read: () => Promise<string>, names: readonly string[]): Promise<void> {
  let missing: readonly string[] = names;
  try {
    await until("metrics count", async () => {
      const found = values(await read().catch(() => ""));
      missing = names.filter((name) => !((found.get(name) ?? 0) > 0));
      return missing.length === 0;
    });
  } catch {
    throw new Error(`not above 0: ${missing.join(", ")}`);
  }
}

/** Uses a new connection, and closes the connection afterwards. */
async function connected<T>(target: DialTarget, use: (connection: ClientConnection) => T | Promise<T>): Promise<T> {
  const connection = new ClientConnection(await dial(target, PATIENCE));
  try {
    return await use(connection);
  } finally {
    connection.close();
  }
}

/**
 * A stream with one request. Resolves at the first answer, or at the end.
 *
 * @param over also ends the stream
 */
async function streamed(
  target: DialTarget,
  path: string,
  request: Uint8Array,
  { token = "", over }: { readonly token?: string; readonly over?: Promise<void> } = {},
): Promise<void> {
  await connected(target, async (connection) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const metadata: Record<string, string> = token === "" ? {} : { authorization: `Bearer ${token}` };
    const options = { authority: "localhost", path, metadata, secure: "tls" in target };
    const call = new ClientCall(connection, options, { message: () => resolve(), end: () => resolve() });
    call.send(request);
    await (over === undefined ? promise : Promise.race([promise, over]));
    call.cancel();
    await promise;
  });
}

/** Requests for certificates, each with another reason of failure. */
async function failAtAuthority(target: DialTarget, mesh: IdentityMesh): Promise<void> {
  const csr = await createCertificateRequest(await PrivateKey.generate({ type: "EC", curve: "P-256" }), {});
  const good = await mesh.token("client");
  const wrong: readonly (readonly [token: string, request: object])[] = [
    ["none", { csr }],
    [good, { csr: "none" }],
    [good, { csr, validity_duration: 1e9 }],
  ];
  await connected(target, async (connection) => {
    for (const [token, request] of wrong) {
      const options = {
        authority: "localhost",
        path: CREATE,
        metadata: { authorization: `Bearer ${token}` },
        secure: true,
      };
      await assert.rejects(
        callUnary(connection, options, encode("istio.v1.auth.IstioCertificateRequest", request), PATIENCE),
      );
    }
  });
}

/**
 * Takes the proxy's place at its agent and gives the place up, until the agent counts a given-up stream: the proxy may
 * come back in between.
 */
async function takeProxysPlace(path: string, read: () => Promise<string>): Promise<void> {
  const count = async (name: string) => values(await read()).get(name) ?? 0;
  await until("a stream that its client gave up is counted", async () => {
    const before = await count("xds_proxy_requests");
    const taken = until("the agent reads a request", async () => await count("xds_proxy_requests") > before);
    await streamed({ path }, ADS, new Uint8Array(), { over: taken });
    await taken;
    return await count('proxy_connection_terminations{type="cancelled"}') > 0;
  });
}

/** What other clients of an agent's sockets may do: take the proxy's place, and ask for missing files. */
async function disturb({ folder }: AgentProcess, read: () => Promise<string>): Promise<void> {
  const request = (names: readonly string[]) =>
    encode("envoy.service.discovery.v3.DiscoveryRequest", { type_url: SECRET, resource_names: [...names] });
  const secrets = { path: `${folder}/var/run/secrets/workload-spiffe-uds/socket` };
  await streamed(secrets, SDS, request(["file-root:/no\0where/root.pem"]));
  const rejects = { type_url: SECRET, resource_names: ["ROOTCA"], response_nonce: "7", error_detail: { code: 13 } };
  await streamed(secrets, SDS, encode("envoy.service.discovery.v3.DiscoveryRequest", rejects));
  void streamed(secrets, SDS, request(["file-root:/nowhere/root.pem"])).catch(() => {});
  await takeProxysPlace(`${folder}/etc/mesh/proxy/XDS`, read);
}

Deno.test({
  name: "each metric about certificates, connections, files and keys of tokens counts what happens to real programs",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(5, async ([port = 0, ...ports]) => {
      await using keys = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {} },
        () => new Response('{"keys":[]}'),
      );
      await using mesh = await IdentityMesh.start({
        port,
        files: { "tokens.yaml": tokenRules(`http://127.0.0.1:${keys.addr.port}`) },
      });
      try {
        const agent = await mesh.agent({
          ...{ name: "client", ports },
          env: { ...SHORT_LEAVES, ISTIO_PROMETHEUS_ANNOTATIONS: JSON.stringify({ scrape: "true", port: "1" }) },
        });
        const page = async (path: string) => await (await fetch(`http://127.0.0.1:${ports[1]}${path}`)).text();
        const ofAgent = async () => {
          await page("/healthz/ready");
          return await page("/stats/prometheus");
        };
        await untilCounted(ofAgent, [
          ...[
            "xds_proxy_requests",
            "xds_proxy_responses",
            "scrapes_total",
            "startup_duration_seconds",
            "pilot_xds_send_time_count",
            'mesh_build{component="proxy",tag="unknown"}',
            'cert_expiry_seconds{resource_name="default"}',
          ],
          ...['num_outgoing_requests{request_type="csr"}', 'outgoing_latency{request_type="csr"}'],
          'scrape_failures_total{type="application"}',
        ]);
        const tls = { serverName: "localhost", roots: await mesh.roots() };
        const target = { host: "127.0.0.1", port, tls };
        await failAtAuthority(target, mesh);
        const node = { id: "router~127.0.0.1~door.demo~demo.svc.cluster.local" };
        const wants = { node, type_url: SECRET, resource_names_subscribe: ["kubernetes://missing"] };
        const asked = encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", wants);
        const asks = streamed(target, ADS, asked, { token: await mesh.token("client") });
        await untilCounted(() => mesh.metrics(), [
          ...["csr_count", "csr_parsing_err_count", "success_cert_issuance_count"].map((
            name,
          ) => `citadel_server_${name}`),
          ...["TTL_ERROR", "CSR_ERROR"].map((error) => `citadel_server_csr_sign_err_count{error="${error}"}`),
          "citadel_server_authentication_failure_count",
          ...["root_cert", "cert_chain"].flatMap((what) =>
            ["seconds", "timestamp"].map((unit) => `citadel_server_${what}_expiry_${unit}`)
          ),
          ...["success", "fail"].map((outcome) => `pilot_jwks_resolver_network_fetch_${outcome}_total`),
          "pilot_sds_certificate_errors_total",
        ]);
        await mesh.killServer();
        await asks;
        await disturb(agent, ofAgent);
        await untilCounted(ofAgent, [
          ...['meshd_connection_terminations{type="error"}', "meshd_connection_failures"],
          ...['num_failed_outgoing_requests{request_type="csr"}', 'num_outgoing_retries{request_type="csr"}'],
          ...["num_file_secret_failures_total", "num_file_watcher_failures_total"],
          ...['pilot_total_xds_rejects{type="sds"}', 'pilot_xds_expired_nonce{type="sds"}'],
        ]);
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});
