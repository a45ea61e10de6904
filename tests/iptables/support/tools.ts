/**
 * What tests with real packets need of the machine, and the sentence that says what is missing.
 *
 * Permissions: run, read, sys (uid), env (CI).
 *
 * @module
 */

/** Runs a command and returns what it printed; throws when it fails. */
export async function sh(command: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  })
    .output();
  const text = new TextDecoder().decode(stdout);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: ${code}: ${new TextDecoder().decode(stderr)}${text}`);
  return text;
}

const needed: readonly (readonly [tool: string, debianPackage: string])[] = [
  ["ip", "iproute2"],
  ["iptables-nft", "iptables"],
  ["iptables-legacy", "iptables"],
  ["nsenter", "util-linux"],
  ["setpriv", "util-linux"],
  ["/usr/bin/python3", "python3"],
  ["conntrack", "conntrack"],
];

async function whyNot(): Promise<string | undefined> {
  if (Deno.build.os !== "linux") return "network namespaces exist on Linux only";
  if (Deno.uid() !== 0) return "not root: network namespaces cannot be made";
  const missing: string[] = [];
  for (const [tool, debianPackage] of needed) {
    try {
      await new Deno.Command(tool, { args: ["--version"], stdin: "null", stdout: "null", stderr: "null" }).output();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      missing.push(`${tool} (Debian package ${debianPackage})`);
    }
  }
  if (missing.length > 0) return `not installed: ${missing.join(", ")}`;
  const name = `mesh-try-${crypto.randomUUID().slice(0, 8)}`;
  try {
    await sh("ip", "netns", "add", name);
    await sh("ip", "netns", "del", name);
  } catch (error) {
    return `network namespaces cannot be made here: ${(error as Error).message}`;
  }
  return undefined;
}

/** Why tests with real packets cannot run here; undefined when they can. */
export const missing: string | undefined = await whyNot();

/**
 * A test with real packets: reported as ignored, with the reason in its name, where the machine lacks something, but
 * failing where CI is set.
 */
export function packetTest(name: string, work: (t: Deno.TestContext) => Promise<void>): void {
  const ignore = missing !== undefined && Deno.env.get("CI") === undefined;
  Deno.test({
    name: missing === undefined ? name : `${name} [${missing}]`,
    ignore,
    fn: async (t) => {
      if (missing !== undefined) throw new Error(missing);
      await work(t);
    },
  });
}
