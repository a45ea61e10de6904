/**
 * Roots sent by the server to an agent: good roots are taken over, unreadable roots rejected, and the last good roots
 * stay.
 */
import assert from "node:assert/strict";
import { readResponse } from "../../lib/agent/relay/messages.ts";
import { ClientCall } from "../../lib/grpc/client/client_call.ts";
import { ClientConnection } from "../../lib/grpc/client/client_connection.ts";
import { dial } from "../../lib/grpc/client/dial.ts";
import { MessageWriter } from "../../lib/grpc/message_writer.ts";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { writeCertificates } from "../../lib/pki/certificate.ts";
import { withPorts } from "../../scripts/ports.ts";
import { makeRoot, P256 } from "../pki/support/make.ts";
import { envoyPath } from "../envoy/path.ts";
import { AgentProcess } from "./support/agent_process.ts";
import { TestAuthority } from "./support/authority.ts";
import { TestDiscovery } from "./support/discovery.ts";
import { PATIENCE, until } from "../patience.ts";

const CLUSTERS = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const PROXY_CONFIG = "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig";

interface Request {
  readonly type_url: string;
  readonly version_info?: string;
  readonly response_nonce?: string;
  readonly error_detail?: { readonly message: string };
}

/** A response; `ProxyConfig`: ca_certificates_pem = 34. */
function response(type_url: string, nonce: string, roots: readonly string[] = []): Uint8Array {
  const settings = new MessageWriter();
  for (const root of roots) settings.string(34, root);
  const resources = roots.length === 0 ? [] : [{ type_url, value: settings.finish() }];
  return encode("envoy.service.discovery.v3.DiscoveryResponse", { type_url, nonce, version_info: nonce, resources });
}

/** The roots that an agent gives to its proxy, the latest last. */
async function rootsOf(agent: AgentProcess): Promise<{ readonly given: readonly string[] } & Disposable> {
  const path = `${agent.folder}/var/run/secrets/workload-spiffe-uds/socket`;
  const connection = new ClientConnection(await dial({ path }, PATIENCE));
  const given: string[] = [];
  const method = "/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets";
  const call = new ClientCall(connection, { authority: "sds", path: method, maxMessageSize: 1_000_000 }, {
    message(bytes) {
      const { resources: [first] } = readResponse("sotw", new Uint8Array(bytes));
      if (first !== undefined) given.push(new TextDecoder().decode(first.body));
    },
    end: () => {},
  });
  call.send(encode("envoy.service.discovery.v3.DiscoveryRequest", { resource_names: ["ROOTCA"] }));
  return { given, [Symbol.dispose]: () => connection.close() };
}

Deno.test({
  name:
    "roots from the server are trusted at once; the server hears why roots cannot be read, and the last readable roots stay",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(4, async ([admin = 0, status = 0, readiness = 0, metrics = 0]) => {
      const root = async (name: string) =>
        writeCertificates([(await makeRoot(P256, { notAfter: Date.now() + 1e9, name })).certificate]);
      const [first, second] = [await root("first"), await root("second")];
      const asked: Request[] = [];
      await using discovery = await TestDiscovery.start(0, ({ call }, bytes) => {
        const request = decode<Request>("envoy.service.discovery.v3.DiscoveryRequest", bytes);
        const { type_url, response_nonce = "" } = request;
        // Envoy asks for listeners once clusters are there, and the agent then asks for its own resources.
        if (type_url === CLUSTERS && response_nonce === "") call.send([response(CLUSTERS, "c")], false);
        if (type_url === PROXY_CONFIG) asked.push(request);
      });
      const authority = await TestAuthority.make();
      await using certificates = await authority.listen("ca.test");
      await using agent = await AgentProcess.start({
        files: {
          "var/run/secrets/mesh/root-cert.pem": authority.root,
          "var/run/secrets/tokens/mesh-token": "the-token\n",
        },
        env: {
          ...{ POD_NAME: "a", POD_NAMESPACE: "shop", INSTANCE_IP: "127.0.0.1", MESH_DELTA_XDS: "false" },
          ...{ CA_ADDR: `127.0.0.1:${certificates.port}`, MESHD_SAN: "ca.test", ECC_SIGNATURE_ALGORITHM: "ECDSA" },
          ...{ PROXY_CONFIG_XDS_AGENT: "true", PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}` },
          PROXY_CONFIG: JSON.stringify({
            ...{ binaryPath: "envoy", discoveryAddress: `127.0.0.1:${discovery.port}` },
            ...{ controlPlaneAuthPolicy: "NONE", proxyAdminPort: admin, statusPort: status, concurrency: 1 },
          }),
        },
      });
      try {
        await until("the agent asks", () => asked.length === 1);
        using roots = await rootsOf(agent);
        const isGiven = (...expected: readonly string[]) => {
          const last = roots.given.at(-1) ?? "";
          return [authority.root, first, second].every((one) => last.includes(one.trim()) === expected.includes(one));
        };
        const { call } = discovery.streams[0]!;
        const send = async (nonce: string, ...pems: readonly string[]) => {
          call.send([response(PROXY_CONFIG, nonce, pems)], false);
          await until(`${nonce} is answered`, () => asked.at(-1)?.response_nonce === nonce);
          return asked.at(-1)!;
        };
        assert.equal((await send("1", first)).error_detail, undefined);
        await until("the first is trusted", () => isGiven(authority.root, first));
        const refused = await send("2", second, "no certificate");
        assert.match(refused.error_detail?.message ?? "", /ca_certificates_pem: expected certificates in PEM/);
        assert.equal(refused.version_info, "1");
        await until(
          "the refusal is said",
          () => /ProxyConfig from the server was rejected: ca_certificates_pem/.test(agent.output),
        );
        assert(isGiven(authority.root, first));
        assert.equal((await send("3", second)).error_detail, undefined);
        await until("the second is trusted instead", () => isGiven(authority.root, second));
      } catch (error) {
        throw new Error(agent.output, { cause: error });
      }
    }),
});
