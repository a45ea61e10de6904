import assert from "node:assert/strict";
import { addressesToDial, validateRedirection, type Verdict } from "../../lib/iptables/validate.ts";
import { PortTaken, withPorts } from "../../scripts/ports.ts";

const device = (address: string) =>
  ({ address, family: address.includes(":") ? "IPv6" : "IPv4" }) as Deno.NetworkInterfaceInfo;

/** A port that was free a moment ago. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "0.0.0.0", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

Deno.test("the check dials each family with addresses, and IPv4 when no family has addresses", () => {
  const dial = (...addresses: string[]) =>
    addressesToDial(["127.0.0.1", "::1", ...addresses].map(device), "127.0.0.1/32");
  assert.deepEqual(dial("10.0.0.1", "fe80::1"), { 4: "127.0.0.6" });
  assert.deepEqual(dial("10.0.0.1", "fe80::1", "::6", "fd00::2"), { 4: "127.0.0.6", 6: "fd00::2" });
  assert.deepEqual(dial("169.254.1.1", "2001:db8::2"), { 6: "2001:db8::2" });
  assert.deepEqual(dial(), { 4: "127.0.0.6" });
});

Deno.test("where all of 127.0.0.0/8 is left alone, the check dials an address of this machine", () => {
  const dial = (range: string) => addressesToDial(["127.0.0.1", "169.254.1.1", "10.0.0.1"].map(device), range);
  assert.deepEqual(dial("127.0.0.0/8"), { 4: "10.0.0.1" });
  assert.deepEqual(dial("127.0.0.4/30"), { 4: "10.0.0.1" });
  assert.deepEqual(dial("127.0.0.0/30"), { 4: "127.0.0.6" });
});

Deno.test("where the proxy's ports are in use and nothing redirects, the check fails all the same", async () => {
  using proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = (proxy.addr as Deno.NetAddr).port;
  const probe = { proxyPort: port, inboundPort: port, timeout: 300, notRedirected: "127.0.0.1/32" };
  // Another process may take a recently free port: then the test tries another port.
  let verdict: Verdict | undefined;
  let probePort = 0;
  for (let attempt = 0; attempt < 5 && !verdict?.failure?.includes("refused"); attempt++) {
    probePort = freePort();
    [verdict] = await validateRedirection({ ...probe, probePort });
  }
  assert.match(
    verdict?.failure ?? "",
    new RegExp(`port ${probePort} do not reach port ${port} within \\d+ ms: .*refused`, "i"),
  );
  assert.deepEqual(verdict?.inUse, [port]);
  // A connection to a listener on the dialled port shows nothing.
  const [blind] = await validateRedirection({ ...probe, probePort: port });
  assert.match(blind?.failure ?? "", new RegExp(`port ${port} is in use, and so are the proxy's`));
});

Deno.test("a server that accepts the connection and stays silent is given up in time", async () => {
  await withPorts(2, async ([proxyPort = 0, inboundPort = 0]) => {
    using silent = Deno.listen({ hostname: "0.0.0.0", port: 0 });
    const accepted = silent.accept().then((connection) => connection, () => undefined);
    // Ends an endless check, which then reports an answer.
    const guard = setTimeout(async () => (await accepted)?.close(), 5000);
    const probePort = (silent.addr as Deno.NetAddr).port;
    const probe = { proxyPort, inboundPort, probePort, timeout: 150, notRedirected: "127.0.0.1/32" };
    const [verdict] = await validateRedirection(probe);
    clearTimeout(guard);
    if (verdict?.failure?.includes("is in use")) throw new PortTaken(verdict.failure);
    assert.match(verdict?.failure ?? "", /no answer in time/);
    (await accepted)?.close();
  });
});
