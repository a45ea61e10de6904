/**
 * The rate of certificates, and the cost of signing for proxies that wait for configuration.
 *
 * Permissions: the permissions of `../session.ts` and `../istio_child.ts`.
 *
 * @module
 */
import { PrivateKey } from "../../../../lib/pki/private_key.ts";
import { type KeySpec, keySpecText } from "../../../../lib/pki/public_key.ts";
import { createCertificateRequest } from "../../../../lib/pki/request.ts";
import type { BenchCertificates } from "../certificates.ts";
import { atMost, DEBOUNCE, delayFigure, figure } from "../figures.ts";
import { ISTIO_NAME, startIstio } from "../istio_child.ts";
import type { CertificateLoadAnswer } from "../load/certificate_protocol.ts";
import { type CertificateLoadChild, startCertificateLoad } from "../load_child.ts";
import { spread } from "../result.ts";
import type { Session } from "../session.ts";
import { delay } from "../usage.ts";
import {
  checked,
  label,
  type LoadSpec,
  type RunOptions,
  type Scenario,
  sized,
  USUAL,
  withSession,
} from "./scenario.ts";

const IN_FLIGHT = 16;
/** How long code warms up, and how long certificates are counted, ms. */
const WARM_UP = 1000, COUNTED = 5000;

/**
 * For RSA-2048: the rate of an earlier machine, where Istio signed 650 to 710 a second. For P-256: twice Istio's rate
 * with RSA-2048 on this machine, 1,600.
 */
const KEYS: readonly { readonly key: KeySpec; readonly least: number }[] = [
  { key: { type: "RSA", bits: 2048 }, least: 650 },
  { key: { type: "EC", curve: "P-256" }, least: 3200 },
];

interface Rate {
  readonly aSecond: number;
  /** CPU seconds of the server for a thousand. */
  readonly thousand: number;
}

/**
 * Callers with certificates request further certificates, from authorities with both kinds of keys, while 400 proxies
 * wait for a rule.
 */
export const certificates: readonly Scenario[] = KEYS.map(({ key, least }) => ({
  name: `certificates-${keySpecText(key)}`,
  run(options) {
    const load = sized(
      { services: USUAL, proxies: 400, delta: true, gzip: true, mutualTls: true, authorityKey: key },
      options,
    );
    return withSession(load, options, (session) => measure(session, load, key, least, options));
  },
}));

async function measure(session: Session, load: LoadSpec, key: KeySpec, least: number, options: RunOptions) {
  const { server } = session;
  const made = session.certificates!;
  const csr = await createCertificateRequest(await PrivateKey.generate(key), {});
  checked(await session.connect(), load.proxies);
  const { result: ours, calibration } = await options.calibrator.beside(async () => {
    const asked = await startLoadOn(server.target, "127.0.0.1", made, csr);
    const rate = await rateOf(asked, async () => (await server.measure()).cpu);
    const last: number[] = [];
    const delays: number[] = [];
    await asked.begin();
    for (let i = 0; i < options.rounds; i++) {
      const { ms, delay } = await session.changeRouteUnderLoad();
      last.push(Math.max(...ms));
      delays.push(delay);
    }
    succeeded(await asked.end());
    await asked.stop();
    return { rate, last: spread(last).median, delay: Math.max(...delays) };
  });
  const istio = await istioRate(session, made, csr);
  return [{
    id: `certificates-${keySpecText(key)}`,
    work: `${keySpecText(key)}: ${IN_FLIGHT} requests for certificates in flight over mutual TLS, beside ${
      label(load)
    }`,
    istio: key.type === "RSA" ? "650-710 a second, 1.25 ms CPU each" : "not measured",
    figures: [
      figure("", "certificates/s", ours.rate.aSecond, { atLeast: least }),
      figure("for 1,000 certificates", "CPU s", ours.rate.thousand),
      figure("a route rule to the last proxy meanwhile", "ms", ours.last, { waited: DEBOUNCE, ...atMost(300) }),
      ...istio === undefined ? [] : [
        figure("Istio in the same run", "certificates/s", istio.aSecond),
        figure("of Istio for 1,000 certificates", "CPU s", istio.thousand),
        figure("the rate of Istio", "x", ours.rate.aSecond / istio.aSecond, { atLeast: 1 }),
      ],
      delayFigure(ours.delay),
    ],
    calibrations: [calibration],
    ...istio === undefined && { note: "Istio was not measured: the variable ISTIO_DISCOVERY names no program" },
  }];
}

async function istioRate({ base }: Session, made: BenchCertificates, csr: string): Promise<Rate | undefined> {
  const folder = `${base}/istio`;
  await Deno.mkdir(`${folder}/etc/cacerts`, { recursive: true });
  for await (const { name } of Deno.readDir(made.authority)) {
    await Deno.copyFile(`${made.authority}/${name}`, `${folder}/etc/cacerts/${name}`);
  }
  await Deno.copyFile(`${made.authority}/root-cert.pem`, `${folder}/etc/cacerts/cert-chain.pem`);
  const istio = await startIstio(folder);
  if (istio === undefined) return undefined;
  try {
    const asked = await startLoadOn(istio.target, ISTIO_NAME, made, csr);
    try {
      return await rateOf(asked, async () => (await istio.used()).cpu);
    } finally {
      await asked.stop();
    }
  } finally {
    await istio.stop();
  }
}

function startLoadOn(target: string, serverName: string, { load }: BenchCertificates, csr: string) {
  const { certificate: chain, key } = load.clients[0]!;
  const who = { root: load.root, identity: { chain, key } };
  return startCertificateLoad({ target, serverName, ...who, csr, inFlight: IN_FLIGHT });
}

async function rateOf(asked: CertificateLoadChild, cpu: () => Promise<number>): Promise<Rate> {
  await asked.begin();
  await delay(WARM_UP);
  succeeded(await asked.end());
  const before = await cpu();
  await asked.begin();
  await delay(COUNTED);
  const { issued, seconds } = succeeded(await asked.end());
  return { aSecond: issued / seconds, thousand: 1000 * (await cpu() - before) / issued };
}

/** @throws When a request failed, because the figures would have no meaning. */
function succeeded(answer: CertificateLoadAnswer): CertificateLoadAnswer {
  if (answer.errors.length > 0 || answer.issued === 0) {
    throw new Error(`${answer.issued} certificates; ${answer.errors.slice(0, 3).join("; ") || "no errors"}`);
  }
  return answer;
}
