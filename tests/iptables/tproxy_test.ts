/**
 * TPROXY: the client's address stays on the way through the proxy to the application and back, on both back ends and in
 * both families.
 */
import assert from "node:assert/strict";
import { applyIn, type Changes } from "./support/inputs.ts";
import { addresses, Cable, users } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

const changes: Changes = {
  inboundMode: "TPROXY",
  inboundPorts: "*",
  inboundPortsExcluded: "9000",
  outboundRanges: "*",
};
const MARK = 1337;

for (const kind of ["nft", "legacy"] as const) {
  packetTest(`TPROXY on ${kind}: the source address stays, and nothing goes round in circles`, async (t) => {
    await using cable = await Cable.lay();
    const proxy = cable.actor("pod", users.proxy);
    const app = cable.actor("pod", users.app);
    const client = cable.actor("client", users.root);
    for (const any of ["0.0.0.0", "::"]) {
      await proxy.listen("outbound proxy", any, 15001);
      // Like Envoy with original_src: connects to the application in the client's name, with the mark.
      await proxy.listen("inbound proxy", any, 15006, { transparent: true, forwardMark: MARK });
      await proxy.listen("tunnel", any, 15008);
      for (const port of [8080, 9000]) await app.listen("app", any, port);
      await client.listen("server", any, 8080);
    }
    await applyIn(cable.pod, kind, changes);

    for (const family of [4, 6] as const) {
      const at = addresses[family];
      const passthrough = family === 4 ? "127.0.0.6" : "::6";

      await t.step(
        `IPv${family}: the proxy sees the client and the destination, the application sees the client`,
        async () => {
          const { answer, error } = await client.dial(at.pod, 8080, { source: at.other });
          assert.equal(error, undefined);
          assert.equal(answer?.name, "inbound proxy");
          assert.equal(answer?.peer, at.other);
          assert.deepEqual(answer?.local, [at.pod, 8080]);
          assert.deepEqual({ name: answer?.app?.name, peer: answer?.app?.peer }, { name: "app", peer: at.other });
        },
      );
      await t.step(`IPv${family}: an excluded port is reached directly`, async () => {
        assert.equal((await client.dial(at.pod, 9000)).answer?.name, "app");
      });
      await t.step(`IPv${family}: the tunnel port is reached directly`, async () => {
        assert.equal((await client.dial(at.pod, 15008)).answer?.name, "tunnel");
      });
      await t.step(`IPv${family}: outbound traffic is redirected`, async () => {
        const { answer } = await app.dial(at.client, 8080);
        assert.equal(answer?.name, "outbound proxy");
        assert.deepEqual(answer?.original, [at.client, 8080]);
      });
      await t.step(`IPv${family}: the proxy's own traffic goes out`, async () => {
        assert.equal((await proxy.dial(at.client, 8080)).answer?.name, "server");
      });
      await t.step(`IPv${family}: a process that calls its own address reaches it`, async () => {
        assert.equal((await app.dial(at.pod, 8080)).answer?.name, "app");
      });
      await t.step(`IPv${family}: the proxy that chose its own workload is inbound to it`, async () => {
        const { answer } = await proxy.dial(at.pod, 8080);
        assert.deepEqual([answer?.name, answer?.app?.name], ["inbound proxy", "app"]);
      });
      await t.step(`IPv${family}: a connection from ${passthrough} reaches the application`, async () => {
        const { answer } = await proxy.dial(at.pod, 8080, { source: passthrough });
        assert.deepEqual({ name: answer?.name, peer: answer?.peer }, { name: "app", peer: passthrough });
      });
    }

    await t.step("clean-up takes routing away too", async () => {
      await applyIn(cable.pod, kind, changes, { cleanup: true });
      assert.doesNotMatch(await cable.exec("pod", "ip", "rule"), /fwmark/);
      assert.doesNotMatch(await cable.exec("pod", "ip", "-6", "rule"), /fwmark/);
      assert.doesNotMatch(await cable.exec("pod", "ip", "-6", "addr", "show", "dev", "lo"), /::6/);
      assert.equal((await client.dial(addresses[4].pod, 8080)).answer?.name, "app");
    });
  }, [kind]);
}

for (const kind of ["nft", "legacy"] as const) {
  packetTest(`TPROXY on ${kind}: beside DNS, excluded devices and virtual machines`, async (t) => {
    await using cable = await Cable.lay();
    const proxy = cable.actor("pod", users.proxy);
    const app = cable.actor("pod", users.app);
    const own = cable.actor("pod", users.root);
    const client = cable.actor("client", users.root);
    for (const family of [4, 6] as const) {
      const [any, localhost] = family === 4 ? ["0.0.0.0", "127.0.0.1"] : ["::", "::1"];
      await proxy.listen("outbound proxy", any, 15001);
      await proxy.listen("inbound proxy", any, 15006, { transparent: true, forwardMark: MARK });
      for (const protocol of ["tcp", "udp"]) {
        await proxy.listen("agent", localhost, 15053, { protocol });
        await client.listen("server", addresses[family].client, 53, { protocol });
      }
      await app.listen("app", any, 8080);
      // The application is a DNS server, too.
      await own.listen("own server", any, 53);
    }
    const dns: Changes = { ...changes, captureDns: true, captureAllDns: true };
    const name = async (from: typeof app, host: string, port: number, protocol = "tcp") => {
      const { answer, error } = await from.dial(host, port, { protocol });
      return answer?.app === undefined ? answer?.name ?? error : `${answer.name}, ${answer.app.name}`;
    };
    const both = async (wanted: string, dial: (at: typeof addresses[4 | 6]) => Promise<string | undefined>) =>
      assert.deepEqual([await dial(addresses[4]), await dial(addresses[6])], [wanted, wanted]);

    await applyIn(cable.pod, kind, dns);
    await t.step("DNS of the application goes to the agent, that of the agent to the server", async () => {
      for (const protocol of ["tcp", "udp"]) {
        await both("agent", (at) => name(app, at.client, 53, protocol));
        await both("server", (at) => name(proxy, at.client, 53, protocol));
      }
    });
    await t.step("DNS to a server in this pod comes in like everything else", async () => {
      await both("inbound proxy, own server", (at) => name(client, at.pod, 53));
    });
    await t.step("an excluded device is left alone in both directions", async () => {
      await applyIn(cable.pod, kind, { ...dns, interfacesExcluded: "eth0" }, { reconcile: true });
      await both("app", (at) => name(client, at.pod, 8080));
      await both("server", (at) => name(app, at.client, 53));
      await both("inbound proxy, app", (at) => name(proxy, at.pod, 8080));
    });
    await t.step("what a virtual machine sends is outbound", async () => {
      await applyIn(cable.pod, kind, { ...dns, virtualInterfaces: "eth0" }, { reconcile: true });
      await both("outbound proxy", (at) => name(client, at.pod, 8080));
    });
  }, [kind]);
}

for (const kind of ["nft", "legacy"] as const) {
  packetTest(`TPROXY on ${kind}: routing of our former mark is removed, routing of other marks stays`, async (t) => {
    await using cable = await Cable.lay();
    const pod = (...words: string[]) => cable.exec("pod", "ip", ...words);
    const marks = async (family: string) =>
      [...(await pod(family, "rule")).matchAll(/fwmark (\S+) lookup (\d+)/g)].map(([, mark, table]) =>
        `${mark} ${table}`
      );
    // Someone else's, with another mark to a table of the same kind, and with our mark to a table of another kind.
    await pod("rule", "add", "fwmark", "77", "lookup", "77");
    await pod("route", "add", "local", "default", "dev", "lo", "table", "77");
    await pod("rule", "add", "fwmark", "1337", "lookup", "99");
    await pod("route", "add", "unreachable", "default", "table", "99");
    const others = ["0x539 99", "0x4d 77"];
    await applyIn(cable.pod, kind, changes);
    assert.deepEqual((await marks("-4")).toSorted(), ["0x539 133", ...others].toSorted());
    assert.deepEqual(await marks("-6"), ["0x539 133"]);

    await t.step("another mark in the same table", async () => {
      await applyIn(cable.pod, kind, { ...changes, tproxyMark: "1400" }, { reconcile: true });
      assert.deepEqual((await marks("-4")).toSorted(), ["0x578 133", ...others].toSorted());
      assert.deepEqual(await marks("-6"), ["0x578 133"]);
      assert.match(await pod("route", "show", "table", "133"), /^local default dev lo/);
    });
    await t.step("another mark and another table", async () => {
      await applyIn(cable.pod, kind, { ...changes, tproxyMark: "1500", tproxyTable: "140" }, { reconcile: true });
      assert.deepEqual((await marks("-4")).toSorted(), ["0x5dc 140", ...others].toSorted());
      assert.deepEqual(await marks("-6"), ["0x5dc 140"]);
      assert.doesNotMatch(await pod("route", "show", "table", "all"), /table 133/);
    });
    await t.step("no mark any more, after a run that knows other numbers", async () => {
      await applyIn(cable.pod, kind, { ...changes, inboundMode: "REDIRECT" }, { reconcile: true });
      assert.deepEqual((await marks("-4")).toSorted(), others.toSorted());
      assert.deepEqual(await marks("-6"), []);
      assert.doesNotMatch(await pod("route", "show", "table", "all"), /table 140/);
    });
    await t.step("clean-up by a run that knows other numbers", async () => {
      await applyIn(cable.pod, kind, { ...changes, tproxyMark: "1500" }, { reconcile: true });
      await applyIn(cable.pod, kind, changes, { cleanup: true });
      assert.deepEqual((await marks("-4")).toSorted(), others.toSorted());
      assert.deepEqual(await marks("-6"), []);
    });
  }, [kind]);
}
