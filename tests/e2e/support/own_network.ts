/**
 * Tests with fixed ports run in a network namespace with only a loopback device, in which all ports are free.
 *
 * Permissions: run (unshare, deno), write (a temporary file).
 *
 * @module
 */
import assert from "node:assert/strict";

/** The missing requirement on this machine. Undefined: none. */
export const withoutOwnNetwork: string | undefined = (() => {
  if (Deno.build.os !== "linux") return "network namespaces exist on Linux only";
  try {
    const made = new Deno.Command("unshare", { args: ["--net", "ip", "link"], stdout: "null", stderr: "null" });
    return made.outputSync().success ? undefined : "network namespaces cannot be made here";
  } catch {
    return "unshare or ip is not installed (Debian packages util-linux, iproute2)";
  }
})();

const PERMISSIONS = ["--allow-read", "--allow-write=/tmp", "--allow-env", "--allow-net", "--allow-run"];
const SYS = "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces,uid";

/** Namespaces that a test makes by `ip netns` have names in the test's own mounts, and end with the test. */
const NAMESPACES = "mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns";

/** Like the redirection's device, this device has the address from which proxies call their own workload over IPv6. */
const DEVICE = "ip link set lo up && ip -6 address add ::6/128 dev lo";

/** The variable is set where tests run alone and may bind any port. */
export const ALL_PORTS_ARE_FREE = "TEST_ALL_PORTS_ARE_FREE";

/** Address at which a test may answer its programs' resolvers, at port 53. */
export const NAME_SERVER = "127.0.0.53";

/** Runs a file of tests in a network namespace. On failure, the error holds the output. */
export async function inOwnNetwork(
  file: URL,
  { resolvConf, addresses = [], variables = {} }: {
    /** The programs' `/etc/resolv.conf`. Default: the machine's. */
    readonly resolvConf?: string;
    /** Further addresses (IPv4) of the loopback device. Default: none. */
    readonly addresses?: readonly string[];
    /** Further variables of the tests. Default: none. */
    readonly variables?: Readonly<Record<string, string>>;
  } = {},
): Promise<void> {
  const resolvFile = await Deno.makeTempFile();
  await Deno.writeTextFile(resolvFile, resolvConf ?? "");
  try {
    const more = addresses.map((address) => ` && ip address add ${address}/32 dev lo`).join("");
    await run(file, resolvConf === undefined ? "" : `mount --bind ${resolvFile} /etc/resolv.conf && `, more, variables);
  } finally {
    await Deno.remove(resolvFile);
  }
}

async function run(
  file: URL,
  before: string,
  more: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const tests = [Deno.execPath(), "test", "--quiet", "--no-prompt", "--no-check", ...PERMISSIONS, SYS, file.pathname];
  const { success, stdout, stderr } = await new Deno.Command("unshare", {
    args: ["--net", "--mount", "sh", "-c", `${before}${NAMESPACES} && ${DEVICE}${more} && exec "$@"`, "sh", ...tests],
    env: { ...variables, [ALL_PORTS_ARE_FREE]: "true" },
    stdout: "piped",
    stderr: "piped",
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.ok(success, `${out}\n${err}`);
}
