import assert from "node:assert/strict";
import { AGENT_PATHS, type AgentPaths } from "../../../lib/agent/start/agent_paths.ts";
import { AgentStartError, planSecrets, type SecretSettings } from "../../../lib/agent/start/secret_plan.ts";
import { tokenFaults } from "../../../lib/agent/start/tokens.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";

const CLOUD_FILES = ["certificates.pem", "private_key.pem", "ca_certificates.pem"];
const MOUNTED_FILES = ["cert-chain.pem", "key.pem", "root-cert.pem"];

/** Files, and sockets with and without a program behind them. */
type Machine = Partial<Readonly<Record<"files" | "listening" | "dead", readonly string[]>>>;

async function machine(
  { files = [], listening = [], dead = [] }: Machine,
  use: (paths: AgentPaths, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const sockets: Deno.UnixListener[] = [];
  try {
    for (const name of ["uds", "certs", "spiffe"]) await Deno.mkdir(`${folder}/${name}`);
    for (const file of files) await Deno.writeTextFile(`${folder}/${file}`, "text");
    for (const name of [...listening, ...dead]) {
      sockets.push(Deno.listen({ transport: "unix", path: `${folder}/uds/${name}` }));
      if (dead.includes(name)) {
        // The runtime removes the file of a closed socket.
        await Deno.link(`${folder}/uds/${name}`, `${folder}/uds/kept`);
        sockets.pop()!.close();
        await Deno.rename(`${folder}/uds/kept`, `${folder}/uds/${name}`);
      }
    }
    const certificates = [`${folder}/certs`, `${folder}/spiffe`];
    const paths = {
      ...AGENT_PATHS,
      identitySockets: `${folder}/uds`,
      certificates,
      cloudCertificates: `${folder}/spiffe`,
    };
    await use(paths, folder);
  } finally {
    for (const socket of sockets) socket.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const inFolder = (folder: string, names: readonly string[]) => names.map((name) => `${folder}/${name}`);

type Case = readonly [string, Partial<SecretSettings>, Machine, string | RegExp];

const cases: readonly Case[] = [
  ["nothing is set and nothing is there", {}, {}, "authority"],
  ["three files are mounted", {}, { files: inFolder("certs", MOUNTED_FILES) }, "files certs"],
  ["two of three files are mounted", {}, { files: inFolder("certs", MOUNTED_FILES.slice(1)) }, "authority"],
  ["files are in the second folder", {}, { files: inFolder("spiffe", MOUNTED_FILES) }, "files spiffe"],
  ["files are said to be mounted and are not there yet", { FILE_MOUNTED_CERTS: true }, {}, "files certs"],
  ["a program listens on the usual socket", {}, { listening: ["socket"] }, "another program"],
  ["a socket is left of a program that is gone", {}, { dead: ["socket"] }, "authority"],
  [
    "a program listens on the socket that is named",
    { WORKLOAD_IDENTITY_SOCKET_FILE: "spire.sock" },
    { listening: ["spire.sock"] },
    "another program",
  ],
  [
    "nobody listens on the socket that is named",
    { WORKLOAD_IDENTITY_SOCKET_FILE: "spire.sock" },
    { listening: ["socket"] },
    /^variable WORKLOAD_IDENTITY_SOCKET_FILE: got "spire\.sock", expected a socket of that name in /,
  ],
  [
    "the socket that is named is left of a program that is gone",
    { WORKLOAD_IDENTITY_SOCKET_FILE: "spire.sock" },
    { dead: ["spire.sock"] },
    /^variable WORKLOAD_IDENTITY_SOCKET_FILE: got "spire\.sock"/,
  ],
  [
    "the socket is named with a folder",
    { WORKLOAD_IDENTITY_SOCKET_FILE: "a/b" },
    {},
    /^variable WORKLOAD_IDENTITY_SOCKET_FILE: got "a\/b", expected a name without folder$/,
  ],
  [
    "a cloud mounts its three files",
    { CA_PROVIDER: "GkeWorkloadCertificate" },
    { files: inFolder("spiffe", CLOUD_FILES) },
    "files spiffe",
  ],
  [
    "a cloud has not mounted all of its files",
    { CA_PROVIDER: "GkeWorkloadCertificate" },
    { files: inFolder("spiffe", CLOUD_FILES.slice(1)) },
    /^variable CA_PROVIDER: got GkeWorkloadCertificate, expected certificates\.pem, private_key\.pem and ca_certificates\.pem in /,
  ],
  [
    "a provider is named that there is not",
    { CA_PROVIDER: "Vault" },
    {},
    /^variable CA_PROVIDER: got "Vault", expected Citadel or GkeWorkloadCertificate$/,
  ],
  [
    "certificates are mounted and provisioned",
    { FILE_MOUNTED_CERTS: true, PROV_CERT: "/certs" },
    {},
    /^variable FILE_MOUNTED_CERTS: got true, expected false with PROV_CERT/,
  ],
];

for (const [name, changes, there, expected] of cases) {
  const outcome = typeof expected === "string"
    ? `certificates come from ${expected}`
    : "the agent does not start, and says why";
  Deno.test(`where ${name}, ${outcome}`, () =>
    machine(there, async (paths, folder) => {
      const plan = planSecrets({ ...defaultSettings("pilot-agent"), ...changes }, paths);
      if (typeof expected !== "string") {
        return await assert.rejects(plan, (error: unknown) => {
          assert(error instanceof AgentStartError);
          assert.equal(error.faults.length, 1);
          assert.match(error.faults[0]!, expected);
          return true;
        });
      }
      const found = await plan;
      const [from, at] = expected.split(/ (?=certs|spiffe)/);
      assert.equal(found.from, from);
      if (found.from !== "files") return;
      const names = changes.CA_PROVIDER === undefined ? MOUNTED_FILES : CLOUD_FILES;
      const used = Object.values(found.files).flatMap((one) => Object.values(one));
      assert.deepEqual(used.sort(), inFolder(`${folder}/${at}`, names).sort());
    }));
}

Deno.test("unknown types, providers and plugins of tokens are reported with the known ones", () => {
  const faults = (settings: Parameters<typeof defaultSettings<"pilot-agent">>[1], port = 0, plugin?: string) =>
    tokenFaults(defaultSettings("pilot-agent", settings), { port, plugin });
  assert.deepEqual(faults({}), []);
  assert.deepEqual(faults({ CREDENTIAL_FETCHER_TYPE: "GoogleComputeEngine" }, 1, "GoogleTokenExchange"), []);
  assert.deepEqual(faults({ CREDENTIAL_FETCHER_TYPE: "Mock", CREDENTIAL_IDENTITY_PROVIDER: "Okta" }, 15463), [
    'variable CREDENTIAL_FETCHER_TYPE: got "Mock", expected JWT or GoogleComputeEngine',
    'variable CREDENTIAL_IDENTITY_PROVIDER: got "Okta", expected GoogleComputeEngine',
    'flag --tokenManagerPlugin: got "", expected GoogleTokenExchange',
  ]);
  assert.deepEqual(faults({}, 0, "Other"), ['flag --tokenManagerPlugin: got "Other", expected GoogleTokenExchange']);
});
