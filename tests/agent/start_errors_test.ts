/** Faults at the start of an agent: a line about the fault and exit code 1, or attempts until the fault is gone. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { withServer } from "../discovery/running.ts";
import { envoyPath } from "../envoy/path.ts";
import { AgentProcess } from "./support/agent_process.ts";
import { TestAuthority } from "./support/authority.ts";
import { until } from "../patience.ts";

const noEnvoy = envoyPath() === undefined;
const identity = { POD_NAME: "cart-1", POD_NAMESPACE: "shop", SERVICE_ACCOUNT: "cart", INSTANCE_IP: "127.0.0.1" };

/** Ports of a test: the agent's, Envoy's admin page, the token service, Envoy's two listeners. */
interface Ports {
  readonly status: number;
  readonly admin: number;
  readonly sts: number;
  readonly readiness: number;
  readonly metrics: number;
}

/** A fault that keeps an agent from starting. */
interface StartFault {
  readonly name: string;
  readonly files?: Readonly<Record<string, string>>;
  /** A port in use by another program. */
  readonly taken?: keyof Ports;
  /** A socket, by path, on which another program listens. */
  readonly listening?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: (ports: Ports) => readonly string[];
  readonly says: (ports: Ports) => RegExp;
  readonly needsEnvoy?: boolean;
}

const SDS = "var/run/secrets/workload-spiffe-uds/socket";

const faults: readonly StartFault[] = [
  {
    name: "the status port is another program's",
    taken: "status",
    says: ({ status }) => new RegExp(`^.*statusPort ${status}: .*[Aa]ddress.* in use`, "m"),
  },
  {
    name: "the port of the token service is another program's",
    taken: "sts",
    args: ({ sts }) => [`--stsPort=${sts}`, "--tokenManagerPlugin=GoogleTokenExchange"],
    says: ({ sts }) => new RegExp(`--stsPort ${sts}: .*[Aa]ddress.* in use`),
  },
  {
    name: "the admin port of Envoy is another program's",
    taken: "admin",
    needsEnvoy: true,
    says: ({ admin }) => new RegExp(`critical[^]*127\\.0\\.0\\.1:${admin}[^]*[Aa]ddress.* in use[^]*ended.*code=1`),
  },
  {
    name: "the path of the socket for certificates is a file",
    files: { [SDS]: "" },
    says: () => /workload-spiffe-uds\/socket is a file, not a socket/,
  },
  {
    name: "another program listens on the socket for configuration",
    listening: "etc/mesh/proxy/XDS",
    says: () => /etc\/mesh\/proxy\/XDS: another process listens there/,
  },
  {
    name: "the folder of the proxy cannot be made",
    files: { "etc/mesh": "a file" },
    says: () => /etc\/mesh\/proxy.*[Nn]ot a directory/,
  },
  {
    name: "the address of the DNS server is malformed",
    env: { ISTIO_META_DNS_CAPTURE: "true", DNS_PROXY_ADDR: "nowhere" },
    says: () => /DNS_PROXY_ADDR: got "nowhere", expected host:port/,
  },
  {
    name: "the permissions do not name the Envoy",
    settings: { binaryPath: "/nowhere/envoy" },
    says: () => /\/nowhere\/envoy cannot be started: binaryPath: .* put a link there/,
  },
  {
    name: "there is no Envoy",
    settings: { binaryPath: "envoy" },
    env: { PATH: "/nowhere" },
    says: () => /envoy cannot be started: .*envoy/,
  },
  {
    name: "the template of the bootstrap is not there",
    args: () => ["--templateFile=./none.json"],
    says: () => /flag --templateFile: .*none\.json/,
  },
  {
    name: "a template prints an unknown value",
    files: { "own.json": '{\n"node": "{{ .nobody }}"}' },
    env: { ISTIO_BOOTSTRAP: "./own.json" },
    says: () => /\.\/own\.json:2: there is no such value to print/,
  },
  {
    name: "the override of the bootstrap is not there",
    env: { MESH_BOOTSTRAP_OVERRIDE: "./none.yaml" },
    says: () => /variable MESH_BOOTSTRAP_OVERRIDE: .*none\.yaml/,
  },
  {
    name: "the bootstrap of gRPC clients would take the place of something else",
    files: { "etc/other/file": "" },
    env: { GRPC_XDS_BOOTSTRAP: "./etc/other", CA_PROVIDER: "Vault" },
    says: () => /GRPC_XDS_BOOTSTRAP: got "\.\/etc\/other", expected the path of a file\n.*CA_PROVIDER/,
  },
  {
    name: "the bootstrap of gRPC clients cannot be written",
    files: { "etc/other": "" },
    env: { GRPC_XDS_BOOTSTRAP: "./etc/other/grpc.json" },
    says: () => /GRPC_XDS_BOOTSTRAP: got "\.\/etc\/other\/grpc\.json", expected a path where a file can be written: /,
  },
  {
    name: "settings of tokens are malformed",
    env: { CREDENTIAL_FETCHER_TYPE: "Mock", CA_PROVIDER: "Vault" },
    args: () => ["--stsPort=1"],
    says: () => /CREDENTIAL_FETCHER_TYPE: got "Mock"[^]*--tokenManagerPlugin: got ""[^]*CA_PROVIDER: got "Vault"/,
  },
];

/** A folder that a test can fill before an agent starts there. */
async function folderOfItsOwn(): Promise<{ readonly folder: string } & AsyncDisposable> {
  const folder = await Deno.makeTempDir();
  return { folder, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

/** Another program on a port of all addresses, or on a socket. */
async function occupy(fault: StartFault, ports: Ports, folder: string): Promise<() => void> {
  if (fault.listening !== undefined) {
    const path = `${folder}/${fault.listening}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    const other = Deno.listen({ transport: "unix", path });
    return () => other.close();
  }
  if (fault.taken === undefined) return () => {};
  const hostname = fault.taken === "status" ? "0.0.0.0" : "127.0.0.1";
  const other = Deno.listen({ hostname, port: ports[fault.taken] });
  return () => other.close();
}

function variables({ env = {}, settings = {} }: StartFault, ports: Ports): Record<string, string> {
  return {
    ...identity,
    PROXY_CONFIG: JSON.stringify({
      ...{ binaryPath: "envoy", discoveryAddress: "127.0.0.1:1", controlPlaneAuthPolicy: "NONE" },
      ...{ proxyAdminPort: ports.admin, statusPort: ports.status, concurrency: 1, ...settings },
    }),
    ...{ PROXY_STATUS_PORT: `${ports.readiness}`, PROXY_METRICS_PORT: `${ports.metrics}`, ...env },
  };
}

for (const fault of faults) {
  Deno.test({
    name: `where ${fault.name}, an agent says so and ends with 1, and leaves no socket behind`,
    ignore: fault.needsEnvoy === true && noEnvoy,
    fn: () =>
      withPorts(5, async ([status = 0, admin = 0, sts = 0, readiness = 0, metrics = 0]) => {
        const ports = { status, admin, sts, readiness, metrics };
        await using place = await folderOfItsOwn();
        const release = await occupy(fault, ports, place.folder);
        await using agent = await AgentProcess.start({
          args: ["sidecar", ...fault.args?.(ports) ?? []],
          ...(fault.files === undefined ? {} : { files: fault.files }),
          env: variables(fault, ports),
          folder: place.folder,
        });
        try {
          // Compared without the words of a taken port, which would make the test lease other ports.
          const code = await agent.ended;
          assert(
            code === 1 && fault.says(ports).test(agent.output),
            `code ${code}, got:\n${agent.output.replaceAll("in use", "taken")}`,
          );
          assert.doesNotMatch(agent.output, /NotCapable| {4}at /);
          const left = await Deno.lstat(`${agent.folder}/${SDS}`).then((info) => info.isSocket, () => false);
          assert.equal(left, false);
        } finally {
          release();
        }
      }),
  });
}

/** Variables of an agent without a proxy, with a certificate over TLS. */
function withoutProxy(port: number, status: number): Record<string, string> {
  return {
    ...identity,
    ...{ DISABLE_PROXY: "true", CA_ADDR: `127.0.0.1:${port}`, ECC_SIGNATURE_ALGORITHM: "ECDSA" },
    ...{ OUTPUT_CERTS: "./var/certs", PROXY_CONFIG: JSON.stringify({ statusPort: status }) },
  };
}

const tokens: readonly (readonly [string, number | undefined, RegExp])[] = [
  [
    "has no token",
    undefined,
    /no certificate: .*Unauthenticated.*\(there is no token in .*mesh-token or .*istio-token\); .*next attempt in/,
  ],
  ["has an expired token", -600, /no certificate: .*Unauthenticated: .*expired.*next attempt in/],
  ["has a token that is not valid yet", 7200, /no certificate: .*Unauthenticated: .*next attempt in/],
];

for (const [name, shift, says] of tokens) {
  Deno.test(`an agent that ${name} says so, and has its certificate as soon as there is a good one`, () =>
    withPorts(1, async ([status = 0]) => {
      await using issuer = await TestIssuer.start();
      const sub = "system:serviceaccount:shop:cart";
      const now = Math.floor(Date.now() / 1000);
      const times = shift === undefined || shift < 0 ? { exp: now + (shift ?? 0) } : { nbf: now + shift };
      const kept = await Deno.makeTempDir();
      const rule = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, audiences: ["mesh-ca"] };
      const settings = {
        ...{ MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: kept, JWT_RULE: JSON.stringify(rule) },
      };
      await withServer({}, async (discovery) => {
        const root = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----\n/
          .exec(await Deno.readTextFile(`${kept}/authority.pem`))![0];
        await using agent = await AgentProcess.start({
          files: {
            "var/run/secrets/mesh/root-cert.pem": root,
            "var/run/secrets/tokens/other": "",
            ...(shift === undefined
              ? {}
              : { "var/run/secrets/tokens/mesh-token": await issuer.token({ sub, ...times }) }),
          },
          env: { ...withoutProxy(discovery.ports.secureGrpc!, status), MESHD_SAN: "localhost" },
        });
        await agent.says(says);
        await agent.write(
          "var/run/secrets/tokens/mesh-token",
          await issuer.token({ sub, iat: now - 60, exp: now + 600 }),
        );
        await agent.says(/certificate valid until/);
      }, { options: { secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] } }, settings });
      await Deno.remove(kept, { recursive: true });
    }));
}

Deno.test("an agent whose clock is hours behind the authority's clock reports both times, and goes on when the clocks agree", () =>
  withPorts(1, async ([status = 0]) => {
    const authority = await TestAuthority.make();
    await using certificates = await authority.listen("ca.test");
    authority.ahead = 2 * 3_600_000;
    await using agent = await AgentProcess.start({
      files: { "var/run/secrets/mesh/root-cert.pem": authority.root },
      env: { ...withoutProxy(certificates.port, status), MESHD_SAN: "ca.test" },
    });
    const says =
      /no certificate: .*valid now \(20.* by this machine's clock\), got one from 20.* to 20.*next attempt in/;
    await agent.says(says);
    authority.ahead = 0;
    await agent.says(/certificate valid until/);
  }));

const notRoot = Deno.uid() !== 0;

async function command(name: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(name, { args, stderr: "piped" }).output();
  assert(success, new TextDecoder().decode(stderr));
}

/** A disk of 16 kB without room, in an agent's folder. */
async function fullDisk(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true });
  await command("mount", "-t", "tmpfs", "-o", "size=16k", "full", path);
  await Deno.writeTextFile(`${path}/filler`, "x".repeat(16 * 1024));
}

Deno.test({
  name: "an agent whose disk is full says that the bootstrap cannot be written, and ends with 1",
  ignore: notRoot,
  fn: () =>
    withPorts(5, async ([status = 0, admin = 0, sts = 0, readiness = 0, metrics = 0]) => {
      const ports = { status, admin, sts, readiness, metrics };
      const says = () => /the bootstrap cannot be written: .*[Nn]o space left on device/;
      await using place = await folderOfItsOwn();
      await fullDisk(`${place.folder}/etc/mesh`);
      await using agent = await AgentProcess.start({
        env: variables({ name: "full", says }, ports),
        folder: place.folder,
      });
      const code = await agent.ended;
      await command("umount", `${agent.folder}/etc/mesh`);
      assert.equal(code, 1);
      assert.match(agent.output, says());
    }),
});

Deno.test({
  name: "where the disk of OUTPUT_CERTS is full the certificate is served, and written as soon as there is room",
  ignore: notRoot,
  fn: () =>
    withPorts(1, async ([status = 0]) => {
      const authority = await TestAuthority.make();
      await using certificates = await authority.listen("ca.test");
      await using place = await folderOfItsOwn();
      await fullDisk(`${place.folder}/var/certs`);
      await using agent = await AgentProcess.start({
        files: { "var/run/secrets/mesh/root-cert.pem": authority.root },
        env: { ...withoutProxy(certificates.port, status), MESHD_SAN: "ca.test" },
        folder: place.folder,
      });
      const certs = `${agent.folder}/var/certs`;
      try {
        const says = /error.*var\/certs\/.*\.pem cannot be written: .*[Nn]o space left.*tried again/;
        await agent.says(says);
        await agent.says(/certificate valid until/);
        const found = () => String([...Deno.readDirSync(certs)].map(({ name }) => name).sort());
        // In the midst of an attempt there is an unfinished file.
        await until("nothing is written", () => found() === "filler");
        await Deno.remove(`${certs}/filler`);
        await agent.says(/the certificate is written now/);
        assert.equal(found(), "cert-chain.pem,key.pem,root-cert.pem");
        assert.equal(agent.output.split("certificate valid until").length - 1, 1, "no other certificate was needed");
      } finally {
        agent.signal("SIGTERM");
        await agent.ended;
        await command("umount", certs);
      }
    }),
});
