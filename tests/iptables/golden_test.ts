/** The text of a dry run for a configuration of each kind. `deno task goldens` accepts a change. */
import { dryRunText } from "../../lib/iptables/dry_run.ts";
import { testGoldens } from "../golden.ts";
import { type Changes, configOf } from "./support/inputs.ts";

const folder = new URL("../testdata/iptables/", import.meta.url);

const cases: Readonly<Record<string, Changes>> = {
  nothing: {},
  "a-pod": { inboundPorts: "*", inboundPortsExcluded: "15090,15021,15020", outboundRanges: "*" },
  "a-pod-with-dns": { inboundPorts: "*", outboundRanges: "*", captureDns: true, dropInvalid: true },
  "all-dns": { outboundRanges: "*", captureDns: true, captureAllDns: true, groupsExcluded: "5000" },
  tproxy: { inboundMode: "TPROXY", inboundPorts: "*", inboundPortsExcluded: "22", outboundRanges: "*" },
  "tproxy-of-some-ports": {
    inboundMode: "TPROXY",
    inboundPorts: "8080,9000:9010",
    tproxyMark: "0x10",
    tproxyTable: "7",
  },
  "some-of-everything": {
    inboundPorts: "8080",
    outboundRanges: "10.0.0.0/8,fd00::/8",
    outboundRangesExcluded: "10.9.0.0/16,fd09::/16",
    outboundPorts: "443",
    outboundPortsExcluded: "22,6000:6010",
    interfacesExcluded: "eth1,net+",
    groups: "java,1000",
    proxyUid: "1337,1338",
    proxyGid: "2000",
  },
  "a-virtual-machine": {
    inboundPorts: "*",
    outboundRanges: "*",
    outboundRangesExcluded: "10.9.0.0/16",
    virtualInterfaces: "tap0,tap1",
  },
  "a-vm-by-tproxy": {
    inboundMode: "TPROXY",
    inboundPorts: "*",
    outboundRanges: "10.0.0.0/8",
    virtualInterfaces: "tap0",
  },
  "no-group": { outboundRanges: "*", groups: "" },
  "wide-loopback": { outboundRanges: "*", loopback: "127.1.2.3/8" },
};

testGoldens({
  folder,
  suffix: ".txt",
  cases: new Map(Object.entries(cases).map(([name, changes]) => [name, () => dryRunText(configOf(changes))])),
});
