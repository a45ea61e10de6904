/**
 * The TLS offer of server and agent to other servers under COMPLIANCE_POLICY. Cipher suites are tested in
 * tests/wire_conformance/tls_policy_test.ts.
 */
import assert from "node:assert/strict";
import { loadedWasm } from "../../lib/agent/start/load_wasm.ts";
import { startTokenService } from "../../lib/agent/start/tokens.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { parseObject } from "../../lib/config/object.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import { ServerAuthentication } from "../../lib/discovery/identity/authentication.ts";
import { startMeshRoots } from "../../lib/discovery/identity/mesh_roots.ts";
import { ServerTokenKeys } from "../../lib/discovery/lookups/server_token_keys.ts";
import { type Kernel, startKernel } from "../../lib/kernel/kernel.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { createMetrics } from "../../lib/kernel/metrics/registry.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { systemClock } from "../../lib/kernel/time/clock.ts";
import { withPorts } from "../../scripts/ports.ts";
import { agentInput } from "../agent/support/agent_input.ts";
import { unsignedToken } from "../agent/support/cloud_server.ts";
import { HelloReader } from "../agent/support/client_hello.ts";
import { extensionOf, response } from "../agent/support/wasm_messages.ts";
import { ANONYMOUS_TLS, caller } from "../authenticators/support/callers.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { inFile } from "../config/origins.ts";
import { Fixture } from "../discovery/fixture.ts";
import { until } from "../patience.ts";

type Compliance = SettingsOf<"pilot-agent">["COMPLIANCE_POLICY"];

/** Connects to the server at the port, which never answers. */
type Outgoing = (reader: HelloReader, COMPLIANCE_POLICY: Compliance, kernel: Kernel) => Promise<unknown>;

const agentParts = () => ({ clock: systemClock, log: silentLog(), metrics: createMetrics("pilot-agent") });

const OUTGOING: Readonly<Record<string, Outgoing>> = {
  async "keys of a RequestAuthentication"({ url }, COMPLIANCE_POLICY, kernel) {
    const metadata = { name: "one", namespace: "x" };
    const spec = { jwtRules: [{ issuer: "one", jwksUri: `${url}/keys` }] };
    const tree = { apiVersion: "security.mesh.io/v1", kind: "RequestAuthentication", metadata, spec };
    const store = new ConfigStore();
    const { object } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
    store.addSource("a", 0).apply({ upserted: [object!], removed: [] });
    const settings = defaultSettings("pilot-discovery", { COMPLIANCE_POLICY });
    await new ServerTokenKeys(settings, kernel, []).follow(store, new Fixture().pipeline);
  },
  async "keys of JWT_RULE"({ url }, COMPLIANCE_POLICY, kernel) {
    await using issuer = await TestIssuer.start();
    const JWT_RULE = JSON.stringify({ issuer: url, jwks_uri: `${url}/keys`, audiences: ["mesh-ca"] });
    const settings = defaultSettings("pilot-discovery", { COMPLIANCE_POLICY, JWT_RULE });
    const state = { mesh: defaultMeshConfig({ systemNamespace: "mesh-system" }), networks: { networks: {} } };
    const authentication = new ServerAuthentication(settings, { state }, kernel).forDiscovery();
    const token = await issuer.token({ iss: url });
    await authentication.authenticate(caller({ authorization: `Bearer ${token}` }, ANONYMOUS_TLS));
  },
  async "roots of another trust domain"({ url }, COMPLIANCE_POLICY, kernel) {
    const mesh = {
      ...defaultMeshConfig({ systemNamespace: "mesh-system" }),
      caCertificates: [{ spiffeBundleUrl: url, trustDomains: ["partner"] }],
    };
    startMeshRoots(
      {
        mesh: { state: { mesh, networks: { networks: {} } }, onChange: () => () => {} },
        ...{ table: new Fixture().pipeline.table, changed() {} },
      },
      defaultSettings("pilot-discovery", { COMPLIANCE_POLICY, MESH_MULTIROOT_MESH: true }),
      kernel,
    );
    await Promise.resolve();
  },
  async "a Wasm module"({ port }, COMPLIANCE_POLICY) {
    const folder = await Deno.makeTempDir();
    const input = agentInput(folder, { settings: { COMPLIANCE_POLICY, WASM_HTTP_REQUEST_MAX_RETRIES: 1 } });
    const modules = loadedWasm({ ...input, paths: { ...input.paths, data: folder } }, agentParts());
    const sent = Promise.withResolvers<void>();
    const rewriter = modules.open("delta", { send: () => sent.resolve(), refuse() {} });
    const config = extensionOf({ name: "f", url: `https://127.0.0.1:${port}/a.wasm` });
    rewriter.take(response("delta", { version: "1", nonce: "a" }, [{ name: "f", config }]));
    await sent.promise;
    rewriter.close();
    modules.stop();
    await Deno.remove(folder, { recursive: true });
  },
  "a token of the security token service": ({ url }, COMPLIANCE_POLICY) =>
    withPorts(1, async ([port = 0]) => {
      const settings = {
        ...{ COMPLIANCE_POLICY, MESH_STS_EXCHANGE_ENDPOINT: `${url}/exchange` },
        MESH_STS_ACCESS_ENDPOINT: `${url}/access`,
      };
      const input = agentInput("/nowhere", { settings });
      const cloud = { ...input.cloud, metadata: { gcp_project_number: "1" } };
      const service = await startTokenService({ ...input, cloud, tokenService: { port, plugin: "" } }, agentParts());
      const answer = await fetch(`http://127.0.0.1:${port}/token`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
          subject_token: unsignedToken(2_000_000_000),
          subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
        }),
      });
      assert.equal(answer.status, 503, await answer.text());
      await service.close();
    }),
};

for (const [what, ask] of Object.entries(OUTGOING)) {
  Deno.test(`under COMPLIANCE_POLICY ${what} is asked for over TLS 1.2 alone, and without it over 1.3, too`, async () => {
    const offered = async (compliance: Compliance) => {
      const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
      await using reader = new HelloReader();
      try {
        await ask(reader, compliance, kernel);
        await until("somebody asked", () => reader.offered.length > 0);
        return [...new Set(reader.offered.flat())].sort();
      } finally {
        await kernel.stopper.stop();
      }
    };
    assert.deepEqual(await offered("fips-140-2"), ["1.2"]);
    assert.deepEqual(await offered(""), ["1.2", "1.3"]);
  });
}
