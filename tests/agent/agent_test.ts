import assert from "node:assert/strict";
import { startServer } from "../../mod.ts";
import { withPorts } from "../../scripts/ports.ts";
import { gateway, service } from "../e2e/support/door.ts";
import { TestMesh } from "../e2e/support/mesh.ts";
import { requestHost } from "../e2e/support/request.ts";
import { envoyPath } from "../envoy/path.ts";
import { TestAuthority } from "./support/authority.ts";
import { AgentProcess } from "./support/agent_process.ts";
import { until } from "../patience.ts";

const noEnvoy = envoyPath() === undefined;

/** Variables of an agent in a container, in Istio's spelling for existing manifests. */
const environment = { POD_NAME: "door-1", POD_NAMESPACE: "demo", SERVICE_ACCOUNT: "door", INSTANCE_IP: "127.0.0.1" };

/** Settings of the agent's proxy: leased ports, and short draining. */
function proxyConfig(discovery: number, admin: number, status: number): string {
  return JSON.stringify({
    binaryPath: "envoy",
    discoveryAddress: `127.0.0.1:${discovery}`,
    controlPlaneAuthPolicy: "NONE",
    proxyAdminPort: admin,
    statusPort: status,
    concurrency: 1,
    terminationDrainDuration: "1s",
  });
}

async function application(): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("cart"));
  await Promise.resolve();
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

async function ask(port: number): Promise<string> {
  const response = await requestHost(port, "cart.test");
  return typeof response === "string" ? "closed" : response.status === 200 ? response.body : String(response.status);
}

Deno.test({
  name:
    "an agent starts a real Envoy that gets its configuration over the relay and answers; without the server it answers on; a signal drains it and ends with 0",
  ignore: noEnvoy,
  fn: () =>
    withPorts(5, async ([door = 0, admin = 0, status = 0, readiness = 0, metrics = 0]) => {
      await using app = await application();
      const authority = await TestAuthority.make();
      await using certificates = await authority.listen("ca.test");
      const mesh = await TestMesh.start({
        files: { "door.yaml": gateway(door), "cart.yaml": service("cart", app.port) },
      });
      let isServed = true;
      await using agent = await AgentProcess.start({
        args: ["router"],
        files: {
          "etc/istio/pod/labels": 'app="door"\n',
          "var/run/secrets/tokens/istio-token": "the-token\n",
          "var/run/secrets/istio/root-cert.pem": authority.root,
        },
        env: {
          ...environment,
          CA_ADDR: `127.0.0.1:${certificates.port}`,
          MESHD_SAN: "ca.test",
          ECC_SIGNATURE_ALGORITHM: "ECDSA",
          OUTPUT_CERTS: "./var/certs",
          PROXY_CONFIG: proxyConfig(mesh.server.ports.grpc, admin, status),
          ENVOY_STATUS_PORT: String(readiness),
          ENVOY_PROMETHEUS_PORT: String(metrics),
        },
      });
      try {
        await until("a request passes", async () => await ask(door) === "cart");
        const page = await (await fetch(`http://127.0.0.1:${metrics}/stats/prometheus`)).text();
        assert.match(page, /envoy_cluster_manager_cds_update_success\{?.*\}? [1-9]/);
        // A slow answer is asked for again.
        assert.deepEqual([...new Set(authority.requests.map(({ token }) => token))], ["Bearer the-token"]);
        assert.match(
          await (await fetch(`http://127.0.0.1:${admin}/certs`)).text(),
          /spiffe:\/\/cluster\.local\/ns\/demo\/sa\/door/,
        );
        assert.equal((await Deno.stat(`${agent.folder}/var/certs/key.pem`)).mode! & 0o777, 0o600);
        const [row] = await mesh.page<{ proxy: string; protocol: string }[]>("syncz");
        assert.equal(row!.protocol, "delta");
        await mesh[Symbol.asyncDispose]();
        isServed = false;
        await agent.says(/no discovery server/);
        assert.equal(await ask(door), "cart");
        agent.signal("SIGTERM");
        assert.equal(await agent.ended, 0, agent.output);
        assert.equal(await ask(door), "closed");
        assert.doesNotMatch(agent.output, /rejected|NotCapable|no configured limit/);
      } catch (error) {
        throw new Error(agent.output, { cause: error });
      } finally {
        if (isServed) await mesh[Symbol.asyncDispose]();
      }
    }),
});

/** Clusters and listeners sent to Envoy, counted in Envoy's output. */
function sent(output: string): { readonly clusters: number; readonly listeners: number } {
  const counts = [...output.matchAll(/cds: response indicates (\d+) added/g)].map(([, count]) => Number(count));
  return {
    clusters: counts.reduce((sum, count) => sum + count, 0),
    listeners: [...output.matchAll(/lds: add\/update listener/g)].length,
  };
}

Deno.test({
  name: "a returning server sends an Envoy behind an agent no unchanged resource, and then changes",
  ignore: noEnvoy,
  fn: () =>
    withPorts(6, async ([discovery = 0, door = 0, admin = 0, status = 0, readiness = 0, metrics = 0]) => {
      await using app = await application();
      const authority = await TestAuthority.make();
      await using certificates = await authority.listen("ca.test");
      const folder = await Deno.makeTempDir();
      await Deno.mkdir(`${folder}/config`);
      await Deno.writeTextFile(`${folder}/config/door.yaml`, gateway(door));
      await Deno.writeTextFile(`${folder}/mesh.json`, "{}");
      const start = () =>
        startServer({
          configDir: `${folder}/config`,
          meshConfig: `${folder}/mesh.json`,
          grpc: `127.0.0.1:${discovery}`,
          settings: { PILOT_DEBOUNCE_AFTER: 10 },
        });
      let server = await start();
      await using agent = await AgentProcess.start({
        args: ["router", "--proxyLogLevel=warning,upstream:info"],
        files: {
          "etc/mesh/pod/labels": 'app="door"\n',
          "var/run/secrets/mesh/root-cert.pem": authority.root,
        },
        env: {
          ...environment,
          CA_ADDR: `127.0.0.1:${certificates.port}`,
          MESHD_SAN: "ca.test",
          ECC_SIGNATURE_ALGORITHM: "ECDSA",
          PROXY_CONFIG: proxyConfig(discovery, admin, status),
          PROXY_STATUS_PORT: String(readiness),
          PROXY_METRICS_PORT: String(metrics),
        },
      });
      try {
        await until("the gateway listens", async () => await ask(door) === "404");
        // Lines of one Envoy come in order: after the line of the only listener no line of its start is missing.
        await until("Envoy says what it is sent", () => sent(agent.output).listeners > 0);
        const before = sent(agent.output);
        assert(before.clusters > 0, "Envoy says what it is sent");
        await server.stop();
        await agent.says(/no discovery server/);
        server = await start();
        const rows = async () =>
          await (await fetch(`http://127.0.0.1:${server.ports.http}/debug/syncz`)).json() as { synced: boolean }[];
        await until("Envoy is there again", async () => (await rows()).some(({ synced }) => synced));
        await Deno.writeTextFile(`${folder}/config/cart.yaml`, service("cart", app.port));
        await until("the change is in force", async () => await ask(door) === "cart");
        await until("Envoy says that it is sent", () => sent(agent.output).clusters > before.clusters);
        const { clusters, listeners } = sent(agent.output);
        assert.equal(clusters, before.clusters + 1, "the cluster that came, and nothing before it");
        assert.equal(listeners, before.listeners);
      } catch (error) {
        throw new Error(agent.output, { cause: error });
      } finally {
        await server.stop();
        await Deno.remove(folder, { recursive: true });
      }
    }),
});

Deno.test({
  name: "an Envoy that cannot start ends its agent with its own exit code",
  ignore: noEnvoy,
  async fn() {
    await withPorts(1, async ([statusPort]) => {
      const proxy = {
        binaryPath: "envoy",
        customConfigFile: "./own.json",
        discoveryAddress: "127.0.0.1:1",
        statusPort,
      };
      await using agent = await AgentProcess.start({
        files: { "own.json": '{"admin": {"address": "{{ .localhost }}"}}' },
        env: { ...environment, PROXY_CONFIG: JSON.stringify(proxy) },
      });
      assert.equal(await agent.ended, 1);
      assert.match(agent.output, /critical[^]*envoy-rev\.json/);
      assert.equal(
        await Deno.readTextFile(`${agent.folder}/etc/mesh/proxy/envoy-rev.json`),
        '{"admin": {"address": "127.0.0.1"}}',
      );
    });
  },
});

Deno.test({
  name: "Envoy starts by a template of the command line, with the override merged over it",
  ignore: noEnvoy,
  fn: () =>
    withPorts(2, async ([admin = 0, status = 0]) => {
      const config = {
        binaryPath: "envoy",
        discoveryAddress: "127.0.0.1:1",
        proxyAdminPort: admin,
        statusPort: status,
      };
      const template =
        '{"node": {"id": "{{ .nodeID }}", "cluster": "c"}, "admin": {"address": {"socket_address": {"address": "{{ .localhost }}", "port_value": {{ .config.proxyAdminPort }} }}}}';
      await using _agent = await AgentProcess.start({
        args: ["sidecar", "--templateFile=./own.json.tmpl"],
        files: { "own.json.tmpl": template, "over.yaml": "node: { cluster: overridden }\n" },
        env: {
          ...environment,
          ...{ PROXY_CONFIG: JSON.stringify(config), ISTIO_BOOTSTRAP_OVERRIDE: "./over.yaml" },
        },
      });
      await until("Envoy says who it is", async () => {
        const page = await fetch(`http://127.0.0.1:${admin}/server_info`).then((answer) => answer.text(), () => "");
        return /"id": "sidecar~127\.0\.0\.1~door-1\.demo~/.test(page) && page.includes('"overridden"');
      });
    }),
});

Deno.test("an agent without a proxy keeps certificates in files, renews them, opens no socket for secrets, and a signal ends it with 0", () =>
  withPorts(1, async ([statusPort]) => {
    const authority = await TestAuthority.make();
    await using certificates = await authority.listen("ca.test");
    await using agent = await AgentProcess.start({
      files: { "var/run/secrets/mesh/root-cert.pem": authority.root },
      env: {
        ...environment,
        DISABLE_ENVOY: "true",
        CA_ADDR: `127.0.0.1:${certificates.port}`,
        MESHD_SAN: "ca.test",
        ECC_SIGNATURE_ALGORITHM: "ECDSA",
        SECRET_TTL: "2s",
        JWT_POLICY: "first-party-jwt",
        OUTPUT_CERTS: "./var/certs",
        PROXY_CONFIG: JSON.stringify({ statusPort }),
      },
    });
    await agent.says(/certificate valid until/);
    const found = (folder: string) => [...Deno.readDirSync(`${agent.folder}/${folder}`)].map(({ name }) => name).sort();
    // In the midst of a renewal there are more files.
    const expected = String(["cert-chain.pem", "key.pem", "root-cert.pem"]);
    await until("no other file is left", () => String(found("var/certs")) === expected);
    const key = await Deno.readTextFile(`${agent.folder}/var/certs/key.pem`);
    await until("it is renewed", async () => await Deno.readTextFile(`${agent.folder}/var/certs/key.pem`) !== key);
    await agent.says(/JWT_POLICY: got "first-party-jwt"; tokens are read as with third-party-jwt/);
    await agent.says(/\tstarted\t/);
    // gRPC applications find the relay there.
    assert.deepEqual([found(""), found("etc/mesh/proxy")], [["etc", "var"], ["XDS", "grpc-bootstrap.json"]]);
    assert.deepEqual([found("var"), found("var/run/secrets")], [["certs", "run"], ["mesh"]]);
    agent.signal("SIGINT");
    assert.equal(await agent.ended, 0, agent.output);
  }));

Deno.test("everything that keeps an agent from starting is said at once, one line each, and nothing is left behind", async () => {
  const settings = {
    CA_PROVIDER: "Vault",
    FILE_MOUNTED_CERTS: "true",
    PROV_CERT: "/certs",
    WORKLOAD_IDENTITY_SOCKET_FILE: "a/b",
  };
  await using agent = await AgentProcess.start({ env: { ...environment, ...settings } });
  assert.equal(await agent.ended, 1);
  for (const name of ["CA_PROVIDER", "FILE_MOUNTED_CERTS", "WORKLOAD_IDENTITY_SOCKET_FILE"]) {
    assert.match(agent.output, new RegExp(`variable ${name}: got .*, expected`));
  }
  assert.deepEqual([...Deno.readDirSync(agent.folder)], []);
  const bad = await AgentProcess.start({ env: { ...environment, PROXY_CONFIG: "{concurrency: many}" } });
  await using _bad = bad;
  assert.equal(await bad.ended, 1);
  assert.match(bad.output, /PROXY_CONFIG: .*concurrency/);
});
