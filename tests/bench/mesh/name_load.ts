/**
 * Questions to a name server over UDP, so many in flight.
 *
 * Permissions: net (loopback).
 *
 * @module
 */

/** A question for the IPv4 addresses of a name, without its ID. */
function question(name: string): Uint8Array {
  const labels = name.split(".").flatMap((label) => [label.length, ...new TextEncoder().encode(label)]);
  return Uint8Array.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1]);
}

/** Time after which an unanswered question counts as lost, ms. */
const PATIENCE = 1000;

/** Whether a name is answered with an address. */
export async function isAnswered(port: number, name: string): Promise<boolean> {
  return await askNames(port, [name], 1, 0).then(() => true, () => false);
}

/**
 * Asks for names in turn, for a while, and each once at least where so many are in flight.
 *
 * @returns answers a second
 * @throws when a question is answered with an error or no address, or is lost
 */
export async function askNames(port: number, names: readonly string[], inFlight: number, ms: number): Promise<number> {
  const questions = names.map(question);
  const to = { transport: "udp", hostname: "127.0.0.1", port } as const;
  const end = performance.now() + ms;
  let answers = 0;
  const one = async (first: number) => {
    const socket = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
    const buffer = new Uint8Array(512);
    let late = false;
    let asked = performance.now();
    const watch = setInterval(() => {
      if (performance.now() - asked < PATIENCE) return;
      late = true;
      socket.close();
    }, PATIENCE);
    try {
      let i = first;
      do {
        asked = performance.now();
        await socket.send(questions[i % questions.length]!, to);
        const [answer] = await socket.receive(buffer);
        const code = answer[3]! & 15;
        if (code !== 0 || answer[7] === 0) {
          throw new Error(`${names[i % names.length]}: ${answer[7]} addresses, code ${code}`);
        }
        answers++;
        i += inFlight;
      } while (performance.now() < end);
    } catch (error) {
      throw late ? new Error(`a question had no answer within ${PATIENCE} ms`) : error;
    } finally {
      clearInterval(watch);
      if (!late) socket.close();
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, (_, i) => one(i)));
  return answers / ((performance.now() - started) / 1000);
}
