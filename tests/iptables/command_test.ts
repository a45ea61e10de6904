/** The command `pilot-agent mesh-iptables`, run with its permission set: exit codes, variables, dry run, the check. */
import assert from "node:assert/strict";
import { Cable } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

const root = new URL("../../", import.meta.url).pathname;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function command(
  args: readonly string[],
  options: { env?: Record<string, string>; in?: string; uid?: number; runtime?: string } = {},
): Promise<Ran> {
  const enter = options.in === undefined ? [] : ["ip", "netns", "exec", options.in];
  const as = options.uid === undefined
    ? []
    : ["setpriv", `--reuid=${options.uid}`, `--regid=${options.uid}`, "--clear-groups"];
  const program = [
    options.runtime ?? Deno.execPath(),
    "run",
    "--quiet",
    "--no-prompt",
    "-P=pilot-agent",
    "cmd/pilot-agent/main.ts",
    "mesh-iptables",
  ];
  const [first = "", ...rest] = [...enter, ...as, ...program, ...args];
  const { code, stdout, stderr } = await new Deno.Command(first, {
    args: rest,
    cwd: root,
    env: { ...options.env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), err: text(stderr) };
}

Deno.test("inputs at fault end the command with exit code 1 and one line each, before anything is touched", async () => {
  const { code, err } = await command(
    ["-b", "80,8o", "--mesh-service-cidr", "10.0.0.0/33", "-c", "a b", "-p", "0"],
    { env: { MESH_OUTBOUND_OWNER_GROUPS: "no such group" } },
  );
  assert.equal(code, 1);
  assert.deepEqual(err.trimEnd().split("\n").map((line) => line.replace(/, expected .*/, "")), [
    'Error: pilot-agent mesh-iptables: flag --proxy-port: got "0"',
    'flag --mesh-inbound-ports (variable MESH_INBOUND_PORTS): got "8o"',
    'flag --mesh-service-cidr (variable MESH_SERVICE_CIDR): got "10.0.0.0/33"',
    'flag --mesh-exclude-interfaces (variable MESH_EXCLUDE_INTERFACES): got "a b"',
    'MESH_OUTBOUND_OWNER_GROUPS: got "no such group"',
  ]);
});

Deno.test("a dry run prints the rules, writes them to the file, and calls no tool", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/rules.txt`;
    const env = {
      DRY_RUN_FILE_PATH: file,
      MESH_INBOUND_PORTS: "80",
      INBOUND_INTERCEPTION_MODE: "TPROXY",
      PATH: folder,
    };
    const { code, out } = await command(["-n", "-i", "10.0.0.0/8"], { env });
    assert.equal(code, 0);
    const rules = out.slice(out.indexOf("# IPv4"));
    assert.match(rules, /^\*mangle$/m);
    assert.match(rules, /-A MESH_INBOUND -p tcp -m tcp --dport 80 -j MESH_TPROXY/);
    assert.match(rules, /-A MESH_OUTPUT -d 10\.0\.0\.0\/8 -j MESH_REDIRECT/);
    assert.equal(await Deno.readTextFile(file), rules);
    // The dry run of a clean-up shows how the same rules are removed.
    const cleaning = await command(["-n", "-i", "10.0.0.0/8", "--cleanup-only"], { env });
    assert.match(cleaning.out, /^-D PREROUTING -p tcp -j MESH_INBOUND$/m);
    assert.doesNotMatch(cleaning.out, /^-A/m);
    assert.match(await Deno.readTextFile(file), /^-X MESH_INBOUND$/m);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a flag beats its variable, which beats the one shared with the injector", async () => {
  const mode = async (args: string[], env: Record<string, string>) =>
    (await command(["-n", "-b", "*", ...args], { env })).out.includes("TPROXY");
  assert.equal(await mode([], { INBOUND_INTERCEPTION_MODE: "TPROXY" }), true);
  assert.equal(
    await mode([], { INBOUND_INTERCEPTION_MODE: "TPROXY", MESH_INBOUND_INTERCEPTION_MODE: "REDIRECT" }),
    false,
  );
  assert.equal(await mode(["-m", "TPROXY"], { MESH_INBOUND_INTERCEPTION_MODE: "REDIRECT" }), true);
});

Deno.test("a file of a dry run that cannot be written is an error that names the variable", async () => {
  const { code, err } = await command(["-n"], { env: { DRY_RUN_FILE_PATH: "/tmp/no such folder/x" } });
  assert.equal(code, 1);
  assert.match(err, /DRY_RUN_FILE_PATH: got "\/tmp\/no such folder\/x", expected a file that can be written/);
});

Deno.test("mistakes in inputs of the check are reported with all others", async () => {
  const { code, err } = await command(["-p", "0", "--iptables-probe-port", "0", "--probe-timeout=-5s"]);
  assert.equal(code, 1);
  assert.deepEqual(err.trimEnd().split("\n").map((line) => line.replace(/, expected .*/, "")), [
    'Error: pilot-agent mesh-iptables: flag --proxy-port: got "0"',
    'flag --iptables-probe-port (variable IPTABLES_PROBE_PORT): got "0"',
    'flag --probe-timeout (variable PROBE_TIMEOUT): got "-5000ms"',
  ]);
});

Deno.test("a network namespace that cannot be entered is reported by the name of the flag", async () => {
  for (const more of [[], ["--skip-rule-apply", "--run-validation"]]) {
    const { code, err } = await command(["--network-namespace", "no-such-namespace", ...more]);
    assert.equal(code, 1);
    assert.match(err, /flag --network-namespace .*: got "no-such-namespace", expected a network namespace/);
  }
});

const captured = ["-i", "*", "-b", "*"];
/** A check of rules that are in place, on a machine that may be slow. */
const check = ["--run-validation", "--probe-timeout", "60s"];
/** A check that waits in vain. */
const brief = ["--run-validation", "--probe-timeout", "3s"];

packetTest(
  "the command sets up, checks, refuses drift and cleans up in the network namespace that it is in",
  async (t) => {
    await using cable = await Cable.lay();
    const here = { in: cable.pod };
    await t.step("the check fails with 126 where no rules are", async () => {
      const { code, out } = await command([...captured, "--skip-rule-apply", ...brief], { ...here, uid: 1337 });
      assert.equal(code, 126, out);
      assert.match(out, /IPv4: connections to 127\.0\.0\.6 port 15002 do not reach port 15006/);
      assert.match(out, /IPv6: connections to fd77::2 port 15002/);
    });
    await t.step("rules are applied, and the check as the proxy's user succeeds in both families", async () => {
      const { code, out, err } = await command([...captured, ...check], here);
      assert.equal(code, 0, out + err);
      assert.match(out, /IPv4: rules applied/);
      assert.match(out, /IPv6: rules applied/);
      assert.match(out, /IPv4: a connection to 127\.0\.0\.6 was redirected/);
      assert.match(out, /IPv6: a connection to fd77::2 was redirected/);
    });
    await t.step("the check alone succeeds without privileges", async () => {
      const { code, out } = await command([...captured, "--skip-rule-apply", ...check], { ...here, uid: 1337 });
      assert.equal(code, 0, out);
    });
    await t.step(
      "a container that is started again beside its proxy succeeds too, and sees that rules are gone",
      async () => {
        const proxy = cable.actor("pod", { uid: 1337, gid: 1337 });
        for (const port of [15001, 15006]) for (const any of ["0.0.0.0", "::"]) await proxy.listen("proxy", any, port);
        const again = await command([...captured, ...check], here);
        assert.equal(again.code, 0, again.out + again.err);
        assert.match(again.out, /IPv4: .* was redirected \(to the present listener of port 15001, 15006\)/);
        assert.match(again.out, /IPv6: .* was redirected \(to the present listener of port 15001, 15006\)/);
        await cable.exec("pod", "iptables-nft", "-t", "nat", "-F", "MESH_IN_REDIRECT");
        const without = await command([...captured, "--skip-rule-apply", ...brief], { ...here, uid: 1337 });
        assert.equal(without.code, 126);
        assert.match(without.out, /IPv4: connections to 127\.0\.0\.6 port 15002 do not reach port 15006/);
        await command([...captured, "--reconcile"], here);
        await proxy.end();
      },
    );
    await t.step("a check that cannot become the proxy's user is no failed check", async () => {
      const { code, err } = await command([...captured, "--skip-rule-apply", ...check], { ...here, uid: 1000 });
      assert.equal(code, 1);
      assert.match(err, /the check cannot run as the proxy's user: .*not permitted.*; run it as user 1337/);
    });
    await t.step("a second run is 0 and changes nothing", async () => {
      const { code, out } = await command(captured, here);
      assert.equal(code, 0);
      assert.match(out, /IPv4: the rules are in place already/);
    });
    await t.step("the check sees that one family has lost its rules", async () => {
      await cable.exec("pod", "ip6tables-nft", "-t", "nat", "-F", "MESH_OUTPUT");
      const { code, out } = await command([...captured, "--skip-rule-apply", ...brief], { ...here, uid: 1337 });
      assert.equal(code, 126);
      assert.match(out, /IPv4: a connection to 127\.0\.0\.6 was redirected/);
      assert.match(out, /IPv6: connections to fd77::2 port 15002 do not reach port 15006/);
    });
    await t.step("drift is refused with 1, and repaired by --reconcile", async () => {
      const refused = await command(captured, here);
      assert.equal(refused.code, 1);
      assert.match(refused.err, /IPv6: rules of a former run differ.*--reconcile/s);
      assert.equal((await command([...captured, "--reconcile"], here)).code, 0);
      assert.equal((await command(captured, here)).code, 0);
    });
    await t.step("clean-up leaves nothing of ours", async () => {
      assert.equal((await command(["--cleanup-only"], here)).code, 0);
      for (const tool of ["iptables-nft-save", "ip6tables-nft-save"]) {
        assert.doesNotMatch(await cable.exec("pod", tool), /MESH/);
      }
    });
  },
);

packetTest("the check runs where the runtime lies below a folder that the proxy's user may not enter", async (t) => {
  await using cable = await Cable.lay();
  const home = await Deno.makeTempDir();
  try {
    assert.equal((Deno.statSync(home).mode ?? 0) & 0o777, 0o700);
    const runtime = `${home}/deno`;
    await Deno.copyFile(Deno.execPath(), runtime);
    // The caches of the runtime are there too.
    const env = { DENO_DIR: `${home}/cache`, HOME: home };
    await t.step("in the network namespace that it is in", async () => {
      const { code, out, err } = await command([...captured, ...check], { in: cable.pod, runtime, env });
      assert.equal(code, 0, out + err);
      assert.match(out, /the check runs as the proxy's user 1337, group 1337/);
      assert.match(out, /IPv4: a connection to 127\.0\.0\.6 was redirected/);
    });
    await t.step("in another one, and rules that are gone are found", async () => {
      const there = [...captured, "--skip-rule-apply", "--network-namespace", cable.pod];
      assert.equal((await command([...there, ...check], { runtime, env })).code, 0);
      await cable.exec("pod", "iptables-nft", "-t", "nat", "-F", "MESH_OUTPUT");
      const without = await command([...there, ...brief], { runtime, env });
      assert.equal(without.code, 126);
      assert.match(without.out, /IPv4: connections to 127\.0\.0\.6 port 15002 do not reach port 15006/);
    });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

packetTest(
  "the command works on another network namespace, by name and by path, as the node's plugin does",
  async () => {
    await using cable = await Cable.lay();
    for (const namespace of [cable.pod, `/run/netns/${cable.pod}`]) {
      const flags = [...captured, "--network-namespace", namespace, "--cni-mode"];
      const { code, out, err } = await command([...flags, ...check]);
      assert.equal(code, 0, out + err);
      assert.match(await cable.exec("pod", "iptables-nft-save"), /MESH_OUTPUT/);
      assert.equal((await command([...flags, "--cleanup-only"])).code, 0);
      assert.doesNotMatch(await cable.exec("pod", "iptables-nft-save"), /MESH/);
    }
  },
);

packetTest(
  "flags of deeds: applied anyway, both families or none, another port and another time for the check",
  async (t) => {
    await using cable = await Cable.lay();
    const here = { in: cable.pod };
    await command(captured, here);
    await t.step("--force-apply", async () => {
      assert.match((await command([...captured, "--force-apply"], here)).out, /IPv4: rules replaced/);
    });
    await t.step("--iptables-probe-port and --probe-timeout", async () => {
      const probe = [...captured, "--skip-rule-apply", "--iptables-probe-port", "15010"];
      assert.equal((await command([...probe, ...check], { ...here, uid: 1337 })).code, 0);
      await cable.exec("pod", "iptables-nft", "-t", "nat", "-F", "MESH_OUTPUT");
      const hurried = [...probe, "--run-validation", "--probe-timeout", "300ms"];
      const { code, out } = await command(hurried, { ...here, uid: 1337 });
      assert.equal(code, 126);
      assert.match(out, /IPv4: connections to 127\.0\.0\.6 port 15010 do not reach port 15006 within 300 ms: /);
    });
    await t.step("--dual-stack", async () => {
      await cable.exec("pod", "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6");
      assert.equal((await command([...captured, "--reconcile"], here)).code, 0);
      const { code, err } = await command([...captured, "--reconcile", "--dual-stack"], here);
      assert.equal(code, 1);
      assert.match(err, /ip -6 addr add ::6\/128/);
    });
  },
);

packetTest("without rights the command fails, names the capability, and changes nothing", async () => {
  await using cable = await Cable.lay();
  const { code, err } = await command(captured, { in: cable.pod, uid: 1000 });
  assert.equal(code, 1);
  assert.match(err, /IPv4: no back end .*the command needs NET_ADMIN in the network namespace\nIPv6: no back end/s);
  assert.doesNotMatch(await cable.exec("pod", "iptables-nft-save"), /MESH/);
});

packetTest("where all of localhost is left alone, the check finds the rules all the same", async () => {
  await using cable = await Cable.lay();
  const env = { MESH_OUTBOUND_IPV4_LOOPBACK_CIDR: "127.0.0.0/8" };
  const { code, out, err } = await command([...captured, ...check], { in: cable.pod, env });
  assert.equal(code, 0, out + err);
  assert.match(out, /IPv4: a connection to 10\.77\.0\.2 was redirected/);
});

packetTest("as the node's plugin, in its own namespace, the command does not wait for the machine's lock", async () => {
  await using cable = await Cable.lay();
  // Others' rules choose the legacy back end for our rules.
  for (const tool of ["iptables-legacy", "ip6tables-legacy"]) await cable.exec("pod", tool, "-A", "INPUT");
  const holder = new Deno.Command("flock", {
    args: ["/run/xtables.lock", "sh", "-c", "echo held; read line || true"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = holder.stdout.getReader();
  await reader.read();
  const { code, out, err } = await command([...captured, "--cni-mode"], { in: cable.pod });
  assert.equal(code, 0, out + err);
  assert.match(await cable.exec("pod", "iptables-legacy-save"), /MESH_OUTPUT/);
  await holder.stdin.close();
  await reader.cancel();
  await holder.status;
}, ["legacy"]);

packetTest("variables count where no flag is given, in Istio's spelling too", async () => {
  await using cable = await Cable.lay();
  const env = { ISTIO_SERVICE_CIDR: "10.1.0.0/16", MESH_INBOUND_PORTS: "81", PROXY_UID: "7", INVALID_DROP: "true" };
  const { code, err } = await command([], { in: cable.pod, env });
  assert.equal(code, 0, err);
  const list = await cable.exec("pod", "iptables-nft-save");
  assert.match(list, /-A MESH_OUTPUT -d 10\.1\.0\.0\/16 -j MESH_REDIRECT/);
  assert.match(list, /--dport 81 -j MESH_IN_REDIRECT/);
  assert.match(list, /--uid-owner 7 -j RETURN/);
  assert.match(list, /MESH_DROP/);
});
