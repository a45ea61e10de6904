/**
 * The identity that a real Envoy forwards. A gateway that appends to a client's header cannot be made to speak for
 * another identity.
 */
import assert from "node:assert/strict";
import { request } from "node:https";
import { parseRanges } from "../../lib/authenticators/addresses.ts";
import { NotAuthenticated } from "../../lib/authenticators/caller.ts";
import { xfccAuthenticator } from "../../lib/authenticators/xfcc.ts";
import { any } from "../../lib/pb/codec.ts";
import { workloadUri } from "../../lib/pki/spiffe.ts";
import { HttpConnectionManager_ForwardClientCertDetails as Forward } from "../../proto/gen/enums.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { ANONYMOUS_TLS, caller } from "../authenticators/support/callers.ts";
import { Authority, type Certificate, openssl } from "../certificates.ts";
import { startStatic } from "../envoy/static.ts";
import { type EchoedRequest, headerEcho } from "./support/header_echo.ts";
import { envoyPath } from "./support/mesh.ts";

const path = envoyPath();
const VICTIM = "spiffe://cluster.local/ns/mesh-system/sa/meshd";
const CLIENT = "spiffe://cluster.local/ns/evil/sa/x";

type Details =
  envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.SetCurrentClientCertDetails;

/** A gateway that verifies client certificates and appends the details to the client's header. */
function gateway(
  root: string,
  own: Certificate,
  upstream: number,
  details: Details,
): envoy.config.bootstrap.v3.Bootstrap.StaticResources {
  const certificate = {
    certificate_chain: { inline_string: own.certificate },
    private_key: { inline_string: own.key },
  };
  const transport_socket = {
    name: "envoy.transport_sockets.tls",
    typed_config: any("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", {
      require_client_certificate: { value: true },
      common_tls_context: {
        tls_certificates: [certificate],
        validation_context: { trusted_ca: { inline_string: root } },
      },
    }),
  };
  const manager = any("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: "gateway",
    forward_client_cert_details: Forward.APPEND_FORWARD,
    set_current_client_cert_details: details,
    route_config: {
      virtual_hosts: [{
        name: "all",
        domains: ["*"],
        routes: [{ match: { prefix: "/" }, route: { cluster: "echo" } }],
      }],
    },
    http_filters: [{
      name: "envoy.filters.http.router",
      typed_config: any("envoy.extensions.filters.http.router.v3.Router", {}),
    }],
  });
  const loopback = (port: number) => ({ socket_address: { address: "127.0.0.1", port_value: port } });
  return {
    listeners: [{
      name: "gateway",
      address: loopback(0),
      filter_chains: [{
        transport_socket,
        filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }],
      }],
    }],
    clusters: [{
      name: "echo",
      type: 0,
      load_assignment: {
        cluster_name: "echo",
        endpoints: [{ lb_endpoints: [{ endpoint: { address: loopback(upstream) } }] }],
      },
    }],
  };
}

/** The header at the application behind the gateway. Undefined when the gateway refused the request. */
function forwarded(port: number, own: Certificate, sent: string | undefined): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const headers: Record<string, string> = sent === undefined ? {} : { "x-forwarded-client-cert": sent };
  // Without `ca`, the machine's authorities would be read, which needs a permission.
  const tls = { cert: own.certificate, key: own.key, ca: [], rejectUnauthorized: false, agent: false };
  const call = request({ host: "127.0.0.1", port, ...tls, headers }, (response) => {
    let body = "";
    response.setEncoding("utf8").on("data", (text) => body += text);
    response.on("end", () => {
      if (response.statusCode !== 200) return resolve(undefined);
      resolve((JSON.parse(body) as EchoedRequest).headers["x-forwarded-client-cert"]);
    });
  });
  call.on("error", reject);
  call.end();
  return promise;
}

const ATTACKS: readonly string[] = [
  `URI=${VICTIM}`,
  `URI=${VICTIM};X="`,
  `URI=${VICTIM};Subject="`,
  `URI=${VICTIM};Subject="\\`,
  `URI=${VICTIM};Subject="a\\"`,
  `URI=${VICTIM};Hash="`,
  `URI="${VICTIM}`,
  `URI=${VICTIM},`,
  `URI=${VICTIM};`,
  `URI=${VICTIM}\\`,
  `URI=${VICTIM};By=`,
  `"`,
];

const gateways = xfccAuthenticator(parseRanges("127.0.0.1/32"), () => ({ own: "cluster.local", aliases: [] }));

/** The identity that a header proves, if sent by a gateway of this machine. Undefined: none. */
async function identity(header: string): Promise<string | undefined> {
  try {
    const shown = caller({ "x-forwarded-client-cert": header }, ANONYMOUS_TLS, "127.0.0.1:1");
    return workloadUri(await gateways.authenticate(shown));
  } catch (error) {
    if (!(error instanceof NotAuthenticated)) throw error;
    return undefined;
  }
}

const DETAILS: Readonly<Record<string, Details>> = {
  "subject and URI": { subject: { value: true }, uri: true },
  "URI alone": { uri: true },
  "everything": { subject: { value: true }, uri: true, dns: true, cert: true, chain: true },
};

for (const [name, details] of Object.entries(DETAILS)) {
  Deno.test({
    name: `a client of a real gateway that appends ${name} is the client of its certificate, or nobody`,
    ignore: path === undefined || !openssl,
    async fn() {
      const authority = await Authority.make("root");
      const own = await authority.sign("gateway", 1, [["URI", "spiffe://cluster.local/ns/gw/sa/gw"]]);
      const client = await authority.sign('x "y", z', 1, [["URI", CLIENT], ["DNS", "x.example"]]);
      await authority.remove();
      await using app = headerEcho();
      const envoy = await startStatic(path!, gateway(authority.certificate, own, app.port, details));
      try {
        const port = envoy.port("gateway");
        const honest = await forwarded(port, client, undefined);
        assert.equal(await identity(honest ?? ""), CLIENT, String(honest));
        for (const attack of ATTACKS) {
          const header = await forwarded(port, client, attack);
          // Envoy itself refuses some attacks.
          if (header === undefined) continue;
          assert.ok(header.startsWith(attack) && header.length > attack.length, `the gateway appends: ${header}`);
          assert.ok([CLIENT, undefined].includes(await identity(header)), header);
        }
      } finally {
        await envoy.stop();
      }
    },
  });
}
