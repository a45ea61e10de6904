/**
 * The errors of `pilot-discovery discovery` at a failed start: flag, value, expectation; one line each and no stack.
 */
import assert from "node:assert/strict";

const repository = new URL("../../", import.meta.url).pathname;

/** Runs the program to its end. */
async function refused(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; lines: string[] }> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-prompt", "-P=pilot-discovery", "cmd/pilot-discovery/main.ts", "discovery"],
      ...["--registries=", "--secureGRPCAddr=", ...args],
    ],
    cwd: repository,
    // An authority would keep a root in this folder.
    env: { ENABLE_CA_SERVER: "false", ...env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  return { code, lines: new TextDecoder().decode(stderr).trimEnd().split("\n") };
}

const FREE = ["--grpcAddr=127.0.0.1:0", "--httpAddr=127.0.0.1:0", "--monitoringAddr=127.0.0.1:0"];

Deno.test("a folder that is missing, and a file in its place, are named with flag, value and expectation", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const missing = await refused([...FREE, `--configDir=${folder}/none`]);
    assert.equal(missing.code, 1);
    assert.equal(missing.lines.length, 1, missing.lines.join("\n"));
    assert.match(missing.lines[0] ?? "", /^Error: flag --configDir: got ".+\/none", expected a folder that exists \(/);
    await Deno.writeTextFile(`${folder}/a.yaml`, "");
    const file = await refused([...FREE, `--configDir=${folder}/a.yaml`]);
    assert.equal(file.code, 1);
    assert.equal(file.lines.length, 1, file.lines.join("\n"));
    assert.match(file.lines[0] ?? "", /^Error: flag --configDir: got ".+a\.yaml", expected a folder, not a file \(/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("ports in use are all named at once, each by its flag", async () => {
  const folder = await Deno.makeTempDir();
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${taken.addr.port}`;
  try {
    const flags = ["httpAddr", "grpcAddr", "monitoringAddr"];
    const { code, lines } = await refused([`--configDir=${folder}`, ...flags.map((name) => `--${name}=${address}`)]);
    assert.equal(code, 1);
    assert.equal(lines.length, 3, lines.join("\n"));
    flags.forEach((name, index) => {
      const start = `flag --${name}: got "${address}", expected an address that is free: another process listens there`;
      assert.ok((lines[index] ?? "").replace(/^Error: /, "").startsWith(start), `${lines[index]}`);
    });
  } finally {
    taken.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a host of another machine and a host that does not resolve have different messages", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const args = ["--httpAddr=192.0.2.1:0", "--grpcAddr=nowhere.invalid:0", "--monitoringAddr=127.0.0.1:0"];
    const { code, lines } = await refused([`--configDir=${folder}`, ...args]);
    assert.equal(code, 1);
    assert.equal(lines.length, 2, lines.join("\n"));
    assert.match(lines[0] ?? "", /--httpAddr: got "192\.0\.2\.1:0", expected an address of this machine/);
    assert.match(lines[1] ?? "", /--grpcAddr: got "nowhere\.invalid:0", expected a host that resolves/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("mesh configuration, networks, folder and ports at fault are reported at once, one line each", async () => {
  const folder = await Deno.makeTempDir();
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${taken.addr.port}`;
  try {
    await Deno.writeTextFile(`${folder}/mesh.yaml`, "connectTimeout: soon\n");
    await Deno.writeTextFile(`${folder}/networks.yaml`, "networks: []\n");
    const { code, lines } = await refused([
      `--meshConfig=${folder}/mesh.yaml`,
      `--networksConfig=${folder}/networks.yaml`,
      `--configDir=${folder}/none`,
      ...[`--grpcAddr=${address}`, "--httpAddr=127.0.0.1:0", `--monitoringAddr=${address}`],
    ]);
    assert.equal(code, 1);
    const flags = lines.map((line) => /^(?:Error: )?flag --(\w+): /.exec(line)?.[1]);
    assert.deepEqual(flags, ["meshConfig", "networksConfig", "configDir", "grpcAddr", "monitoringAddr"]);
    for (const line of lines) assert.match(line, /expected /);
  } finally {
    taken.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("missing mesh files are refused if a flag names them, with flag, value and hint; missing default files are no error", async () => {
  const { code, lines } = await refused([
    ...FREE,
    "--configDir=.",
    "--meshConfig=etc/none.yaml",
    "--networksConfig=/etc/none.yaml",
  ]);
  assert.equal(code, 1);
  assert.deepEqual(lines, [
    'Error: flag --meshConfig: got "etc/none.yaml", expected a file that exists (create it, or leave the flag out for the defaults; a relative path starts in the working directory)',
    'flag --networksConfig: got "/etc/none.yaml", expected a file that exists (create it, or leave the flag out for the defaults)',
  ]);
});

Deno.test("variables, addresses, durations and log flags at fault are reported at once, one line each", async () => {
  const { code, lines } = await refused([
    ...["--configDir=.", "--httpAddr=nonsense", "--keepaliveInterval=0s", "--log_output_level=nothing:debug"],
  ], { PILOT_PUSH_THROTTLE: "many" });
  assert.equal(code, 1);
  assert.deepEqual(lines.map((line) => /(PILOT_\w+|--\w+|log_\w+): got/.exec(line)?.[1]), [
    ...["PILOT_PUSH_THROTTLE", "--httpAddr", "--keepaliveInterval", "--log_output_level"],
  ]);
});

Deno.test("files of TLS and settings of authentication that cannot be used are named with flag or variable", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/junk`, "junk");
    const tls = (cert: string) => [
      ...[`--configDir=${folder}`, "--secureGRPCAddr=127.0.0.1:0", "--ctrlz_port=0", ...FREE],
      ...[`--tlsCertFile=${folder}/${cert}`, `--tlsKeyFile=${folder}/junk`, `--caCertFile=${folder}/junk`],
    ];
    const missing = await refused(tls("none"));
    assert.match(
      missing.lines.join("\n"),
      /^Error: flag --tlsCertFile: got ".+\/none", expected a file that exists and may be read$/,
    );
    const junk = await refused(tls("junk"));
    assert.match(
      junk.lines.join("\n"),
      /^Error: flag --tlsCertFile: .+\/junk: expected certificates in PEM, got none$/,
    );
    const names = ({ lines }: { lines: string[] }) => lines.map((line) => line.replace(/^Error: /, "").split(": ")[0]);
    assert.deepEqual(
      names(await refused(["--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA", "--tlsKeyFile=x", "--configDir=x"])),
      [
        "flags --caCertFile, --tlsCertFile and --tlsKeyFile",
        "flag --tls-cipher-suites",
      ],
    );
    const variables = { JWT_RULE: '{"issuer":5}', TRUSTED_GATEWAY_CIDR: "10.0.0.1" };
    const wrong = await refused([`--configDir=${folder}`, ...FREE], variables);
    assert.deepEqual([wrong.code, names(wrong)], [1, Object.keys(variables)]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("an authority that needs the orchestrator, or whose files do not fit, is named by its variable", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const args = [`--configDir=${folder}`, ...FREE, "--secureGRPCAddr=127.0.0.1:0", "--ctrlz_port=0"];
    const external = await refused(args, {
      EXTERNAL_CA: "ISTIOD_RA_KUBERNETES_API",
      PILOT_CERT_PROVIDER: "k8s.io/signer",
      CA_TRUSTED_NODE_ACCOUNTS: "tunnel",
    });
    assert.equal(external.code, 1);
    for (
      const [line, expected] of [
        /EXTERNAL_CA: got "ISTIOD_RA_ORCH_API", expected a signer, too: set ORCH_SIGNER, or CERT_SIGNER_DOMAIN, or both/,
        /PILOT_CERT_PROVIDER: got "orch.io\/signer", expected orch.io\/ and the whole name of a signer/,
        /CA_TRUSTED_NODE_ACCOUNTS: got "tunnel", expected namespace\/account/,
      ].entries()
    ) assert.match(external.lines[line] ?? "", expected);
    const alone = await refused(args, {
      ...{ EXTERNAL_CA: "ISTIOD_RA_ORCH_API", ORCH_SIGNER: "issuers.example.com/mesh" },
      PILOT_CERT_PROVIDER: "orch.io/issuers.example.com/mesh",
    });
    assert.match(alone.lines[0] ?? "", /EXTERNAL_CA: got .*, expected access to the orchestrator/);
    assert.match(alone.lines[1] ?? "", /PILOT_CERT_PROVIDER: got .*, expected access to the orchestrator/);
    const custom = await refused(args, {
      ...{ ENABLE_CA_SERVER: "true", MESH_SELF_SIGNED_CA_DIR: `${folder}/kept`, PILOT_CERT_PROVIDER: "custom" },
    });
    assert.match(
      custom.lines[0] ?? "",
      /PILOT_CERT_PROVIDER: got "custom", expected its root certificate in \.\/etc\/certs\/root-cert\.pem: /,
    );
    await Deno.writeTextFile(`${folder}/ca-cert.pem`, "junk");
    const incomplete = await refused(args, { ENABLE_CA_SERVER: "true", ROOT_CA_DIR: folder });
    assert.equal(incomplete.code, 1);
    assert.match(incomplete.lines[0] ?? "", /ROOT_CA_DIR: .*: ca-key.pem: expected a file in .* it is not there$/);
    await Deno.writeTextFile(`${folder}/authority.pem`, "junk");
    const kept = await refused(args, {
      ...{ ENABLE_CA_SERVER: "true", MESH_SELF_SIGNED_CA_DIR: folder, ROOT_CA_DIR: `${folder}/none` },
    });
    assert.match(
      kept.lines[0] ?? "",
      /MESH_SELF_SIGNED_CA_DIR: .*authority.pem: expected certificates in PEM, got none$/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a server without a folder needs access to an orchestrator, and reports where it looked and the faults there", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const nowhere = { HOME: folder, KUBECONFIG: "", KUBERNETES_SERVICE_HOST: "" };
    const none = await refused([...FREE, "--registries=Orch"], nowhere);
    assert.match(
      none.lines.join("\n"),
      /flag --configDir: got none, and no access to an orchestrator, expected a folder/,
    );
    const asked = await refused([...FREE, `--configDir=${folder}`, "--registries=Orch"], nowhere);
    assert.match(asked.lines.join("\n"), /flag --registries: got Orch, and no access to an orchestrator, expected/);
    await Deno.writeTextFile(`${folder}/config`, "current-context: x");
    const wrong = await refused([...FREE, "--registries=Orch", `--orchconfig=${folder}/config`], nowhere);
    assert.match(wrong.lines.join("\n"), /flag --orchconfig: .*current-context: got "x", expected/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
