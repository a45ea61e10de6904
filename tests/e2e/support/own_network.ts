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
const SYS = "--allow-sys=hostname,cpus,systemMemoryInfo";

/** Like the redirection's device, this device has the address from which proxies call their own workload over IPv6. */
const DEVICE = "ip link set lo up && ip -6 address add ::6/128 dev lo";

/** Variable that tells tests that they run alone and may bind any port. */
export const ALL_PORTS_ARE_FREE = "TEST_ALL_PORTS_ARE_FREE";

/** Address at which a test may answer its programs' resolvers, at port 53. */
export const NAME_SERVER = "127.0.0.53";

/** Runs a file of tests in a network namespace. On failure, the error holds the output. */
export async function inOwnNetwork(
  file: URL,
  { asksNameServer = false, addresses = [] }: {
    /** The programs' resolvers ask only {@linkcode NAME_SERVER}. Default: the machine's resolvers. */
    readonly asksNameServer?: boolean;
    /** Further addresses (IPv4) of the loopback device. Default: none. */
    readonly addresses?: readonly string[];
  } = {},
): Promise<void> {
  const resolvConf = await Deno.makeTempFile();
  await Deno.writeTextFile(resolvConf, `nameserver ${NAME_SERVER}\n`);
  try {
    const more = addresses.map((address) => ` && ip address add ${address}/32 dev lo`).join("");
    await run(file, asksNameServer ? `mount --bind ${resolvConf} /etc/resolv.conf && ` : "", more);
  } finally {
    await Deno.remove(resolvConf);
  }
}

async function run(file: URL, before: string, more: string): Promise<void> {
  const tests = [Deno.execPath(), "test", "--quiet", "--no-prompt", "--no-check", ...PERMISSIONS, SYS, file.pathname];
  const { success, stdout, stderr } = await new Deno.Command("unshare", {
    args: ["--net", "--mount", "sh", "-c", `${before}${DEVICE}${more} && exec "$@"`, "sh", ...tests],
    env: { [ALL_PORTS_ARE_FREE]: "true" },
    stdout: "piped",
    stderr: "piped",
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.ok(success, `${out}\n${err}`);
}
