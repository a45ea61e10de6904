/**
 * Measures the gain of answering in batches: `recvmmsg` and `sendmmsg` of the C library by Deno's foreign-function
 * interface, with the server's answers. Not part of the programs: foreign functions end the sandbox of permissions
 * (docs/decisions/0008-dns-sockets.md).
 *
 *     deno run --allow-ffi --allow-net --allow-read --allow-env tests/bench/dns_batch_bench.ts <port> [batch]
 *
 * Linux on x86-64 or arm64 with glibc: structures are laid out by hand.
 *
 * Permissions: ffi.
 *
 * @module
 */
import { answer } from "../../lib/dns/answer.ts";
import { Question } from "../../lib/dns/packet/question.ts";
import { MAX_UDP_SIZE } from "../../lib/dns/packet/wire.ts";
import { buildLookupTable } from "../../lib/dns/table/lookup.ts";
import type { NameTable } from "../../lib/dns/table/types.ts";

const port = Number(Deno.args[0]);
const BATCH = Number(Deno.args[1] ?? 32);
/** Bytes of `struct mmsghdr`, `struct iovec`, `struct sockaddr_in`. */
const MMSGHDR = 64;
const IOVEC = 16;
const SOCKADDR = 16;

const libc = Deno.dlopen("libc.so.6", {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  recvmmsg: { parameters: ["i32", "buffer", "u32", "i32", "pointer"], result: "i32" },
  sendmmsg: { parameters: ["i32", "buffer", "u32", "i32"], result: "i32" },
  poll: { parameters: ["buffer", "usize", "i32"], result: "i32", nonblocking: true },
});

const fd = libc.symbols.socket(2, 2, 0);
// SO_REUSEPORT: several processes may share the port, and the kernel distributes clients.
libc.symbols.setsockopt(fd, 1, 15, new Uint8Array(new Int32Array([1]).buffer), 4);
const bound = libc.symbols.bind(
  fd,
  Uint8Array.from([2, 0, port >> 8, port & 255, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
  SOCKADDR,
);
if (fd < 0 || bound < 0) throw new Error(`cannot listen on 127.0.0.1 port ${port}`);

const packets = Array.from({ length: BATCH }, () => new Uint8Array(MAX_UDP_SIZE));
const addresses = new Uint8Array(BATCH * SOCKADDR);
const vectors = new Uint8Array(BATCH * IOVEC);
const headers = new Uint8Array(BATCH * MMSGHDR);
const headerView = new DataView(headers.buffer);
const vectorView = new DataView(vectors.buffer);
const address = (bytes: Uint8Array<ArrayBuffer>) => BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes)));
for (let i = 0; i < BATCH; i++) {
  vectorView.setBigUint64(i * IOVEC, address(packets[i]!), true);
  headerView.setBigUint64(i * MMSGHDR, address(addresses) + BigInt(i * SOCKADDR), true);
  headerView.setBigUint64(i * MMSGHDR + 16, address(vectors) + BigInt(i * IOVEC), true);
  headerView.setBigUint64(i * MMSGHDR + 24, 1n, true);
}

const hosts: Record<string, NameTable[string]> = {};
for (let i = 0; i < 1000; i++) {
  hosts[`svc-${i}.ns-${i % 10}.svc.cluster.local`] = { ips: [`10.0.${i >> 8}.${i & 255}`] };
}
const table = buildLookupTable(hosts, { namespace: "ns-1", domain: "ns-1.svc.cluster.local", search: [] });
const question = new Question();

/** Receives, answers and sends the available packets. Returns the number of packets. */
function turn(): number {
  for (let i = 0; i < BATCH; i++) {
    vectorView.setBigUint64(i * IOVEC + 8, BigInt(MAX_UDP_SIZE), true);
    headerView.setUint32(i * MMSGHDR + 8, SOCKADDR, true);
  }
  const count = libc.symbols.recvmmsg(fd, headers, BATCH, 0x40, null); // MSG_DONTWAIT
  if (count <= 0) return 0;
  for (let i = 0; i < count; i++) {
    const length = headerView.getUint32(i * MMSGHDR + 56, true);
    const out = answer(packets[i]!, length, question, table, "fail", true, MAX_UDP_SIZE, Math.random);
    vectorView.setBigUint64(i * IOVEC + 8, BigInt(Math.max(out, 0)), true);
  }
  libc.symbols.sendmmsg(fd, headers, count, 0);
  return count;
}

// struct pollfd: the socket, POLLIN. Waiting uses a thread of the runtime's pool, never its event loop.
const poll = new Uint8Array(new Int32Array([fd, 1]).buffer);
for (;;) if (turn() === 0) await libc.symbols.poll(poll, 1n, 1000);
