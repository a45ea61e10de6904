/**
 * Node tunnels' ends of the socket, without tunnels: takes orders and tells events, a line of JSON each.
 *
 *     orders:  {"do": "connect", "name", "path", "answer": "ack" | "none" | a refusal}, {"do": "close", "name"}
 *              {"do": "say", "name", "bytes": hex}
 *     events:  {"name", "event": "connected" | "refused" | "end" | "message", "bytes": hex, "namespaces": ["device:inode"]}
 *
 * Permissions: ffi (the C library), read (its path).
 *
 * @module
 */
import { linesOf } from "../../../lib/cni/zds/channel.ts";
import { Libc } from "../../../lib/cni/zds/libc.ts";
import { MAX_MESSAGE } from "../../../lib/cni/zds/messages.ts";
import { NetworkSockets } from "../../tunnel/network/sockets.ts";
import { ackMessage, HELLO } from "../../tunnel/node/agent_socket.ts";

type Order =
  | { readonly do: "connect"; readonly name: string; readonly path: string; readonly answer: string }
  | { readonly do: "close"; readonly name: string }
  | { readonly do: "say"; readonly name: string; readonly bytes: string };

const [libc, sockets] = [Libc.open(), new NetworkSockets()];
const connections = new Map<string, number>();

function tell(name: string, event: string, more: object = {}): void {
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ name, event, ...more }) + "\n"));
}

async function serve(name: string, fd: number, answer: string): Promise<void> {
  libc.send(fd, HELLO);
  for (;;) {
    await libc.readable([fd]);
    const packet = sockets.receivePassed(fd, MAX_MESSAGE);
    if (packet === undefined) break;
    const namespaces = packet.descriptors.map((one) => libc.identity(one));
    for (const one of packet.descriptors) libc.close(one);
    tell(name, "message", { bytes: packet.bytes.toHex(), namespaces });
    if (answer !== "none") libc.send(fd, ackMessage(answer === "ack" ? "" : answer));
  }
  connections.delete(name);
  libc.close(fd);
  tell(name, "end");
}

function take(order: Order): void {
  if (order.do === "connect") {
    const fd = sockets.connectPackets(order.path);
    if (fd === undefined) return tell(order.name, "refused");
    connections.set(order.name, fd);
    tell(order.name, "connected");
    void serve(order.name, fd, order.answer);
    return;
  }
  const fd = connections.get(order.name);
  if (fd === undefined) return;
  if (order.do === "close") sockets.shut(fd);
  else libc.send(fd, Uint8Array.fromHex(order.bytes));
}

for await (const line of linesOf(Deno.stdin.readable)) take(JSON.parse(line));
Deno.exit(0);
