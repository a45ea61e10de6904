/**
 * A watched folder and a watched file while named pipes appear beside them. Started by `pipe_test.ts`, because a pipe
 * holds the only watching thread of a process.
 */
import { ConfigStore } from "../../lib/config/store.ts";
import { watchFolder } from "../../lib/folder/watch.ts";
import { watchFile } from "../../lib/kernel/files/watch_file.ts";
import { until } from "../patience.ts";

const [root] = Deno.args as [string];

function entry(name: string): string {
  return `apiVersion: networking.mesh.io/v1\nkind: ServiceEntry\nmetadata: {name: ${name}}\nspec:\n` +
    `  hosts: [${name}.example.com]\n  ports: [{number: 80, name: http, protocol: HTTP}]\n`;
}

const store = new ConfigStore();
const source = store.addSource("", 0);
let deaf = 0;
const folder = await watchFolder({
  root,
  parse: { defaultNamespace: "default", source: "" },
  onChanges: (changes) => void source.apply(changes),
  onDeaf: () => void deaf++,
});
let text: unknown;
await Deno.writeTextFile(`${root}/mesh`, "a\n");
const file = await watchFile(`${root}/mesh`, (now) => text = now);

const makePipe = (path: string) => new Deno.Command("mkfifo", { args: [path] }).output();
const live = () => store.list("ServiceEntry").map(({ meta }) => meta.name).sort().join();
const lives = (expected: string) => until(expected, () => live() === expected);

await Deno.writeTextFile(`${root}/a.yaml`, entry("a"));
await lives("a");
await makePipe(`${root}/pipe.yaml`);
await Deno.writeTextFile(`${root}/b.yaml`, entry("b"));
await lives("a,b");
const [finding] = folder.index.findings();
console.log(`refused: ${finding?.message}`);
await Deno.writeTextFile(`${root}/mesh`, "b\n");
await until("the file's change", () => text === "b\n");
await Deno.remove(`${root}/pipe.yaml`);
await Deno.writeTextFile(`${root}/c.yaml`, entry("c"));
await lives("a,b,c");
await until("no finding", () => folder.index.findings().length === 0);
// A pipe in the place of a read file: the file's objects stay.
await Deno.remove(`${root}/a.yaml`);
await makePipe(`${root}/a.yaml`);
await Deno.writeTextFile(`${root}/d.yaml`, entry("d"));
await lives("a,b,c,d");
console.log(`live: ${live()}; deaf at least once: ${deaf > 0}`);
// A pipe in the place of the watched file, too.
await Deno.remove(`${root}/mesh`);
await makePipe(`${root}/mesh`);
await until("the pipe is refused", () => typeof text === "object");
console.log(`file: ${JSON.stringify(text)}`);
await folder.stop();
await file.stop();
console.log("stopped");
Deno.exit(0);
