/**
 * Network configurations on which readers of JSON differ, and usual configurations of people and programs. Each is a
 * file, or a folder of files.
 * @module
 */

/** A folder of configurations: text or bytes by name. */
export type CorpusFolder = Readonly<Record<string, string | Uint8Array>>;

const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const plugin = (more: string) => `{"cniVersion":"1.0.0","name":"n","type":"bridge",${more}}`;
const listed = (more: string) => `{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"bridge",${more}}]}`;
const list = (more: string) => `{"name":"n","plugins":[{"type":"bridge"}],${more}}`;
const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** Members of a plugin's configuration; each is tried in a single configuration and in a list. */
export const members: Readonly<Record<string, string>> = {
  "ipam is an object": `"ipam":{"type":"host-local"}`,
  "ipam is a text": `"ipam":"host-local"`,
  "ipam is an array": `"ipam":[]`,
  "ipam is null": `"ipam":null`,
  "ipam's type is a number": `"ipam":{"type":7}`,
  "ipam's type is null": `"ipam":{"type":null}`,
  "dns is an array": `"dns":[]`,
  "dns is a text": `"dns":"10.0.0.10"`,
  "search is an object": `"dns":{"search":{}}`,
  "cniVersion is a number": `"cniVersion":1.0`,
  "an attachment's id is a number": `"cni.dev/valid-attachments":[{"containerID":1}]`,
  "dns with every field": `"dns":{"nameservers":["10.0.0.10"],"domain":"d","search":["s"],"options":["ndots:5"]}`,
  "nameservers is a text": `"dns":{"nameservers":"10.0.0.10"}`,
  "a nameserver is a number": `"dns":{"nameservers":[10]}`,
  "a nameserver is null": `"dns":{"nameservers":[null]}`,
  "domain is true": `"dns":{"domain":true}`,
  "capabilities": `"capabilities":{"portMappings":true}`,
  "a capability is a text": `"capabilities":{"portMappings":"true"}`,
  "a capability is null": `"capabilities":{"portMappings":null}`,
  "capabilities is an array": `"capabilities":["portMappings"]`,
  "prevResult is a text": `"prevResult":"x"`,
  "prevResult is an object": `"prevResult":{"ips":[]}`,
  "attachments": `"cni.dev/valid-attachments":[{"containerID":"c","ifname":"eth0"},null]`,
  "attachments is an object": `"cni.dev/valid-attachments":{}`,
  "disableCheck of a plugin is no field": `"disableCheck":7`,
  "an unknown member of any kind": `"x":[{"y":null}]`,
  "a number too small": `"mtu":1e-400`,
  "a large number": `"mtu":123456789012345678901234567890`,
  "a text that looks like numbers": `"x":"1e400 \\" 1e400"`,
  "a second type in capitals": `"Type":"portmap"`,
  "a second type that is null": `"type":null`,
  "a second Type that is null": `"Type":null`,
  "a second type that is empty": `"type":""`,
  "a second type that is a number": `"type":7`,
  "a key with an escape": `"\\u0074ype":"portmap"`,
  "an escaped half of a pair": `"x":"\\ud800"`,
  "__proto__": `"__proto__":{"type":"x"}`,
};

/** Members of a list. */
export const listMembers: Readonly<Record<string, string>> = {
  "cniVersion": `"cniVersion":"1.0.0"`,
  "no cniVersion": `"x":1`,
  "cniVersion is empty": `"cniVersion":""`,
  "cniVersion is null": `"cniVersion":null`,
  "cniVersion is a number": `"cniVersion":1.0`,
  "cniVersion is no version": `"cniVersion":"new"`,
  "CNIVERSION does not count": `"CNIVERSION":7`,
  "cniVersions": `"cniVersions":["0.4.0","1.1.0","1.0.0"]`,
  "cniVersions and a newer cniVersion": `"cniVersions":["0.4.0"],"cniVersion":"1.0.0"`,
  "cniVersions of the future": `"cniVersions":["9.0.0","2.0.0"],"cniVersion":"1.0.0"`,
  "only versions of the future": `"cniVersions":["9.0.0"],"cniVersion":"8.0.0"`,
  "cniVersions is a text": `"cniVersions":"1.0.0"`,
  "cniVersions is null": `"cniVersions":null`,
  "cniVersions has a number": `"cniVersions":[1]`,
  "cniVersions has no version": `"cniVersions":["1.0.0","new"]`,
  "cniVersions has four parts": `"cniVersions":["1.0.0.0"]`,
  "cniVersions has one part": `"cniVersions":["1"]`,
  "cniVersions has signs": `"cniVersions":["+0.-3.1","0.4.0"]`,
  "cniVersions has an empty one": `"cniVersions":[""]`,
  "cniVersions is empty": `"cniVersions":[],"cniVersion":"0.4.0"`,
  "cniVersions beside a cniVersion that is none": `"cniVersions":["1.0.0"],"cniVersion":"new"`,
  "disableCheck": `"disableCheck":true`,
  "disableCheck is a text": `"disableCheck":"True"`,
  "disableCheck is another text": `"disableCheck":"yes"`,
  "disableCheck is a number": `"disableCheck":1`,
  "disableCheck is null": `"disableCheck":null`,
  "disableCheck is an object": `"disableCheck":{}`,
  "disableGC is a text": `"disableGC":"FALSE"`,
  "disableGC is a number": `"disableGC":0`,
  "DisableGC does not count": `"DisableGC":0`,
  "loadOnlyInlinedPlugins": `"loadOnlyInlinedPlugins":true`,
  "loadOnlyInlinedPlugins is a number": `"loadOnlyInlinedPlugins":1`,
  "a second name": `"name":"m"`,
  "a second name that is a number": `"name":7`,
  "a second name that is null": `"name":null`,
  "Name does not count": `"Name":7`,
  "second plugins": `"plugins":[{"type":"portmap"}]`,
  "second plugins without type": `"plugins":[{}]`,
  "second plugins that are null": `"plugins":null`,
  "ipam of a list is no field": `"ipam":"x"`,
};

/** Whole files. */
const files: Readonly<Record<string, CorpusFolder>> = {
  "nothing": { "10-a.conf": "", "10-b.conflist": "" },
  "null": { "10-a.conf": "null", "10-b.conflist": "null" },
  "an array": { "10-a.conf": "[]", "10-b.conflist": "[]" },
  "a text": { "10-a.conf": `"x"`, "10-b.conflist": `"x"` },
  "half an object": { "10-a.conf": `{"type":"bridge"`, "10-b.conflist": `{"name":"n","plu` },
  "something behind": { "10-a.conf": `${plugin(`"x":1`)} x`, "10-b.conflist": `${list(`"x":1`)}\n}` },
  "two documents": { "10-a.conf": `${plugin(`"x":1`)}\n{}` },
  "comments": { "10-a.conf": `// a network\n${plugin(`"x":1`)}` },
  "a comma too many": { "10-a.conf": `{"type":"bridge",}` },
  "a byte order mark": { "10-a.conf": `\ufeff${plugin(`"x":1`)}`, "10-b.conflist": `\ufeff${list(`"x":1`)}` },
  "a NUL behind": { "10-a.conf": `${plugin(`"x":1`)}\0` },
  "a line separator between": { "10-a.conf": `{"type":\u2028"bridge"}` },
  "spaces of all kinds": { "10-a.conf": `\r\n\t {"type" :\t"bridge"\r\n}\n\n` },
  "bytes that are no UTF-8, in a text": {
    "10-a.conf": bytes(`{"type":"bridge","name":"n","x":"\xff\xc3\x28\xed\xa0\x80"}`),
    "10-b.conflist": bytes(
      `{"name":"n","cniVersion":"1.0.0","x":"caf\xe9","plugins":[{"type":"bridge","y":"\xc0\x80"}]}`,
    ),
  },
  "bytes that are no UTF-8, in a key": {
    "10-b.conflist": bytes(`{"name":"n","\xe9":1,"plugins":[{"type":"bridge"}]}`),
  },
  "bytes that are no UTF-8, between": { "10-a.conf": bytes(`{"type":"bridge"}\xff`) },
  "UTF-16": { "10-a.conf": bytes(Array.from(plugin(`"x":1`), (c) => `${c}\0`).join("")) },
  "a line break in a text": { "10-a.conf": `{"type":"bri\ndge"}` },
  "a list without name": { "10-b.conflist": `{"cniVersion":"1.0.0","plugins":[{"type":"bridge"}]}` },
  "a list whose name is a number": { "10-b.conflist": `{"name":7,"plugins":[{"type":"bridge"}]}` },
  "a list whose name is empty": { "10-b.conflist": `{"name":"","cniVersion":"1.0.0","plugins":[{"type":"bridge"}]}` },
  "a list without plugins": { "10-b.conflist": `{"name":"n","cniVersion":"1.0.0"}` },
  "a list with Plugins": { "10-b.conflist": `{"name":"n","Plugins":[{"type":"bridge"}]}` },
  "an empty list": { "10-b.conflist": `{"name":"n","plugins":[]}` },
  "plugins are an object": { "10-b.conflist": `{"name":"n","plugins":{"type":"bridge"}}` },
  "plugins are null": { "10-b.conflist": `{"name":"n","plugins":null}` },
  "a plugin is null": { "10-b.conflist": `{"name":"n","plugins":[null]}` },
  "a plugin is a text": { "10-b.conflist": `{"name":"n","plugins":["bridge"]}` },
  "a plugin without type": { "10-b.conflist": `{"name":"n","plugins":[{"type":"bridge"},{"name":"x"}]}` },
  "a plugin's type is empty": { "10-b.conflist": `{"name":"n","plugins":[{"type":""}]}` },
  "a plugin's type is a number": { "10-b.conflist": `{"name":"n","plugins":[{"type":1}]}` },
  "types in another order": {
    "10-b.conflist": `{"name":"n","plugins":[{"type":"bridge","TYPE":"portmap"},{"TYPE":"a","type":"b"}]}`,
  },
  "a single configuration's type that is empty, then not": { "10-a.conf": `{"type":"","Type":"bridge"}` },
  "a single configuration without name": { "10-a.conf": `{"type":"bridge"}` },
  "a single configuration whose name is a number": { "10-a.conf": `{"type":"bridge","name":7}` },
  "a single configuration without type": { "10-a.conf": `{"name":"n"}` },
  "cniVersions of a single configuration do not count": { "10-a.conf": plugin(`"cniVersions":7`) },
  "a list in the file of a single one": { "10-a.conf": list(`"x":1`), "20-b.json": list(`"x":1`) },
  "a list that is a single one too": { "10-a.conf": list(`"type":"bridge"`) },
  "a single one in the file of a list": { "10-b.conflist": plugin(`"x":1`) },
  "JSON files": { "10-a.json": plugin(`"x":1`) },
  "other names": {
    "10-a.conf.bak": plugin(`"x":1`),
    "README": "",
    ".conf": plugin(`"x":1`),
    "a.CONF": plugin(`"x":1`),
  },
  "capitals sort first": { "a.conf": plugin(`"x":1`), "B.conf": plugin(`"x":2`), "10.conf": "{" },
  "deep, but not too deep": { "10-a.conf": plugin(`"x":${deep(9_997)}`), "10-b.conflist": list(`"x":${deep(9_999)}`) },
  "plugins in files of their own": {
    "10-b.conflist": `{"name":"net","cniVersion":"1.0.0","plugins":[{"type":"bridge"}]}`,
    "net/20-portmap.conf": `{"type":"portmap"}`,
    "net/10-tuning.conf": `{"type":"tuning"}`,
    "net/30-list.conflist": `{"type":"x"}`,
    "other/10-x.conf": `{"type":"x"}`,
  },
  "plugins in files of their own alone": {
    "10-b.conflist": `{"name":"net","cniVersion":"1.0.0"}`,
    "net/10-bridge.conf": `{"type":"bridge"}`,
  },
  "plugins in files of their own that are left out": {
    "10-b.conflist":
      `{"name":"net","cniVersion":"1.0.0","loadOnlyInlinedPlugins":"TRUE","plugins":[{"type":"bridge"}]}`,
    "net/10-tuning.conf": `{}`,
  },
  "a broken plugin in a file of its own": {
    "10-b.conflist": `{"name":"net","cniVersion":"1.0.0","plugins":[{"type":"bridge"}]}`,
    "net/10-tuning.conf": `{"type":"tuning","ipam":"x"}`,
  },
  "only plugins in files of their own are out, and none is in": {
    "10-b.conflist": `{"name":"net","loadOnlyInlinedPlugins":true}`,
  },
  "no file at all": {},
};

/** The folders by subject. Each has a valid configuration behind the configurations of the subject. */
export const corpus: Readonly<Record<string, CorpusFolder>> = Object.fromEntries(
  [
    ...Object.entries(members).flatMap(([what, member]) => [
      [`single: ${what}`, { "10-a.conf": plugin(member) }],
      [`list: ${what}`, { "10-b.conflist": listed(member) }],
    ]),
    ...Object.entries(listMembers).map(([what, member]) => [`list's ${what}`, { "10-b.conflist": list(member) }]),
    ...Object.entries(files),
  ].map(([what, folder]) => [what, { ...folder as CorpusFolder, "99-last.conf": plugin(`"bridge":"last"`) }]),
);

/** Configurations with different readings by us and by libcni, by the reason, as in docs/differences/cni.md. */
export const differing: Readonly<Record<string, CorpusFolder>> = {
  "a field of a plugin in other letters": { "10-a.conf": plugin(`"IPAM":"x"`) },
  "a plugin's Type": { "10-b.conflist": `{"name":"n","cniVersion":"1.0.0","plugins":[{"Type":"bridge"}]}` },
  "a field twice, of which libcni refuses the first": { "10-a.conf": plugin(`"ipam":"x","ipam":{}`) },
  "a number beyond 64 bits": { "10-a.conf": plugin(`"mtu":1e400`) },
  "more than 10,000 levels": { "10-b.conflist": list(`"x":${deep(10_000)}`) },
};
